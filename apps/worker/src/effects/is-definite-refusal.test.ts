import { expect, test } from "vitest";
import { isDefiniteRefusal } from "./is-definite-refusal.js";

const thrown = (facts: object, cause?: unknown): Error => Object.assign(new Error("thrown", { cause }), facts);

test.each(["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED"])("%s says that no byte left", (code) => {
  expect(isDefiniteRefusal(thrown({ code }))).toBe(true);
});

test.each([400, 401, 403, 404, 410, 422, 425, 429])("an answer of %i is a definite refusal", (status) => {
  expect(isDefiniteRefusal(thrown({ status }))).toBe(true);
});

test.each([200, 302, 408, 409, 500, 502, 503, 504])("an answer of %i says nothing for sure", (status) => {
  expect(isDefiniteRefusal(thrown({ statusCode: status }))).toBe(false);
});

test.each(["ECONNRESET", "ETIMEDOUT", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT"])("%s after sending says nothing for sure", (code) => {
  expect(isDefiniteRefusal(thrown({ code }))).toBe(false);
});

test("a refusal is found among the causes, and a cause of itself ends the search", () => {
  expect(isDefiniteRefusal(thrown({}, thrown({}, thrown({ code: "ECONNREFUSED" }))))).toBe(true);
  const own: Error & { cause?: unknown } = new Error("thrown");
  own.cause = own;
  expect(isDefiniteRefusal(own)).toBe(false);
  expect([undefined, null, "429", 429].map(isDefiniteRefusal)).toEqual([false, false, false, false]);
});
