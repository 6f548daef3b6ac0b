import { expect, test } from "vitest";
import { judgeAnswer } from "./judge-answer.mjs";

const check = (holds) => Object.assign((value) => holds(value), { errors: [{ instancePath: "/runId", message: "must be string" }] });
const operation = { operationId: "getRun", answers: new Map([[200, check(({ runId }) => typeof runId === "string")], [404, undefined]]) };
const api = { operations: [operation], isError: ({ error, message }) => typeof error === "string" && typeof message === "string" };
const json = new Map([["content-type", "application/json; charset=utf-8"]]);
const judge = (answer, request = {}) => judgeAnswer({
  request: { operation, sure: true, unspoiled: true, framing: "whole", bytes: Buffer.from("GET /runs/x HTTP/1.1"), ...request },
  answer: { headers: json, body: "{}", ms: 1, ...answer }, api, foreign: ["of-beta"],
});
const refusal = JSON.stringify({ error: "not_found", message: "no such run" });

test("an answer as described has no fault", () => {
  expect(judge({ status: 200, body: '{"runId":"acme/1"}' })).toEqual([]);
  expect(judge({ status: 404, body: refusal })).toEqual([]);
  expect(judge({ status: 431, body: refusal }, { unspoiled: false })).toEqual([]);
  expect(judge({ status: undefined }, { framing: "torn" })).toEqual([]);
});

test.each([
  ["a 5xx", { status: 500, body: refusal }, {}, /a 500/],
  ["a status that is not described", { status: 418, body: refusal }, {}, /418 is not described/],
  ["a status of HTTP's own to an unspoiled request", { status: 431, body: refusal }, {}, /431 is not described/],
  ["a body that is not as described", { status: 200, body: '{"runId":1}' }, {}, /not as described/],
  ["a body that is no JSON", { status: 200, body: "{" }, {}, /no JSON/],
  ["an error that is none", { status: 404, body: '{"error":1}' }, {}, /no error envelope/],
  ["an error told as text", { status: 404, body: "no", headers: new Map([["content-type", "text/plain"]]) }, {}, /told as text/],
  ["something of another workspace", { status: 200, body: '{"runId":"of-beta"}' }, {}, /another workspace/],
  ["no answer to a whole request", { status: undefined }, {}, /without an answer/],
  ["no answer in time", { late: true, ms: 10_000 }, {}, /no answer within/],
])("%s is a fault", (_, answer, request, fault) => {
  expect(judge(answer, request).join("; ")).toMatch(fault);
});

test("what a request says itself is told to nobody", () => {
  expect(judge({ status: 200, body: '{"runId":"of-beta"}' }, { bytes: Buffer.from("GET /runs/of-beta HTTP/1.1") })).toEqual([]);
});
