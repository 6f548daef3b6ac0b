import { expect, test } from "vitest";
import type { EgressOutcome } from "../request/outcome.js";
import { classifyAnswer } from "./classify-answer.js";

const answered = (status: number): EgressOutcome => ({ sent: true, status, headers: {}, body: new Uint8Array() });

test.each([200, 201, 202, 204, 299])("%i confirms", (status) => { expect(classifyAnswer(answered(status))).toBe("confirmed"); });

test.each([400, 401, 402, 403, 404, 405, 410, 413, 422, 425, 429, 451])("%i is a definite refusal", (status) => {
  expect(classifyAnswer(answered(status))).toBe("absent");
});

test.each([301, 302, 307, 308, 408, 409, 500, 501, 502, 503, 504, 599])("%i leaves it open", (status) => {
  expect(classifyAnswer(answered(status))).toBe("unsettled");
});

test.each(["timeout", "reset", "aborted", "too_large"] as const)("%s after sending leaves it open", (reason) => {
  expect(classifyAnswer({ sent: true, status: undefined, reason, detail: "" })).toBe("unsettled");
});

test.each(["resolve", "connect", "tls", "egress_denied", "aborted_before_send"] as const)("%s sent no byte, so it is absent, whatever the overrides", (reason) => {
  expect(classifyAnswer({ sent: false, reason, detail: "" }, { 200: "unsettled" })).toBe("absent");
});

test("a destination may mean something else by a status", () => {
  expect(classifyAnswer(answered(409), { 409: "absent" })).toBe("absent");
  expect(classifyAnswer(answered(202), { 202: "unsettled" })).toBe("unsettled");
  expect(classifyAnswer(answered(404), { 409: "absent" })).toBe("absent");
});
