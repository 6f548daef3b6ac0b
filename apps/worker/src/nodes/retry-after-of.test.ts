import { WorkflowFailure } from "@mainstay/sdk";
import { expect, test } from "vitest";
import { retryAfterOf } from "./retry-after-of.js";

test("a coded failure says its milliseconds, also as a cause", () => {
  expect(retryAfterOf(new WorkflowFailure("platform.rate_limited", { retryAfterMs: 1_500 }))).toBe(1_500);
  expect(retryAfterOf(new Error("wrapped", { cause: new WorkflowFailure("platform.rate_limited", { retryAfterMs: 7 }) }))).toBe(7);
  expect(retryAfterOf(new WorkflowFailure("platform.rate_limited", { retryAfterMs: -1 }))).toBe(0);
});

test("an HTTP error says it in its headers, in seconds or as a date, wherever libraries put them", () => {
  expect(retryAfterOf({ headers: new Headers({ "Retry-After": "2" }) })).toBe(2_000);
  expect(retryAfterOf({ response: { headers: { "retry-after": "3" } } })).toBe(3_000);
  expect(retryAfterOf({ cause: { headers: { "Retry-After": 4 } } })).toBe(4_000);
  const inAMinute = retryAfterOf({ headers: { "retry-after": new Date(Date.now() + 60_000).toUTCString() } });
  expect(inAMinute).toBeGreaterThan(58_000);
  expect(inAMinute).toBeLessThanOrEqual(60_000);
});

test("a date is counted from the answer's own date, whatever this machine's clock says", () => {
  const headers = { date: "Tue, 01 Jan 2030 00:00:00 GMT", "retry-after": "Tue, 01 Jan 2030 00:00:07 GMT" };
  expect(retryAfterOf({ headers })).toBe(7_000);
  expect(retryAfterOf({ response: { headers: new Headers(headers) } })).toBe(7_000);
});

test("nothing said, nonsense and the past are no wait", () => {
  for (const thrown of [undefined, null, "text", new Error("x"), { headers: null }, { headers: { "retry-after": "soon" } }, { headers: { "retry-after": new Date(0).toUTCString() } }]) {
    expect(retryAfterOf(thrown)).toBe(0);
  }
});
