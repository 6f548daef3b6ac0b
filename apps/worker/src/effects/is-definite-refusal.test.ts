import { expect, test } from "vitest";
import { isDefiniteRefusal, saysInProgress } from "./is-definite-refusal.js";

test.each([400, 401, 403, 404, 422, 425, 429])("%i is a definite refusal, wherever libraries put it", (status) => {
  for (const thrown of [{ status }, { statusCode: status }, { response: { status } }, new Error("x", { cause: { status } })]) expect(isDefiniteRefusal(thrown)).toBe(true);
});

test.each([200, 302, 408, 409, 500, 502, 503, 504])("%i says nothing for sure", (status) => {
  expect(isDefiniteRefusal({ status })).toBe(false);
});

test("no byte was sent when the name or the connection failed; a reset or a time-out says nothing", () => {
  expect(isDefiniteRefusal(new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) }))).toBe(true);
  for (const code of ["ECONNRESET", "ETIMEDOUT", "EPIPE", "UND_ERR_SOCKET"]) expect(isDefiniteRefusal({ code })).toBe(false);
  for (const thrown of [undefined, null, "ECONNREFUSED", new Error("404")]) expect(isDefiniteRefusal(thrown)).toBe(false);
});

test("only 409 says that the other side is at it under our own key", () => {
  expect([408, 409, 425].filter((status) => saysInProgress({ status }))).toEqual([409]);
  expect(saysInProgress(new Error("x", { cause: { statusCode: 409 } }))).toBe(true);
});
