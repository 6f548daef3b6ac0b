import { expect, test } from "vitest";
import { recordable as record } from "./recordable.js";

const limit = 10_000;
const recordable = (value: unknown, maxBytes: number): unknown => record(value, maxBytes).value;
const codeOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (thrown) {
    return (thrown as { code?: unknown }).code;
  }
};
const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as unknown;

test("text that Postgres cannot hold is replaced in values and in member names, and only there", () => {
  const odd = { "a\u0000": "b\u0000", "c\ud800": "d\udfff", "\\u0000": "\\ud800", "\\\u0000": "\\\\\u0000", pair: "😀", "😀": "\u0001\u202E" };
  expect(recordable(odd, limit)).toEqual({ "a\uFFFD": "b\uFFFD", "c\uFFFD": "d\uFFFD", "\\u0000": "\\ud800", "\\\uFFFD": "\\\\\uFFFD", pair: "😀", "😀": "\u0001\u202E" });
});

test("what JSON has no word for is null or left out", () => {
  expect(recordable(undefined, limit)).toBe(null);
  expect(recordable(() => 1, limit)).toBe(null);
  expect(recordable({ a: undefined, b: [Number.NaN, undefined] }, limit)).toEqual({ b: [null, null] });
});

test("what JSON cannot say is a contract mismatch", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  for (const value of [cycle, 1n, { toJSON: () => { throw new Error("no"); } }]) expect(codeOf(() => recordable(value, limit))).toBe("platform.contract_mismatch");
});

test("a thousand levels are recorded, one more is a contract mismatch; brackets in text are no levels", () => {
  expect(recordable(nested(1_000), limit)).toEqual(nested(1_000));
  expect(codeOf(() => recordable(nested(1_001), limit))).toBe("platform.contract_mismatch");
  expect(recordable([`"${"[".repeat(2_000)}\\`, "{".repeat(2_000)], limit)).toEqual([`"${"[".repeat(2_000)}\\`, "{".repeat(2_000)]);
});

test("the limit counts bytes, the last one included", () => {
  expect(recordable("x".repeat(limit - 2), limit)).toHaveLength(limit - 2);
  expect(codeOf(() => recordable("x".repeat(limit - 1), limit))).toBe("platform.data_limit_exceeded");
  expect(record("é", limit).bytes).toBe(4);
  expect(codeOf(() => recordable("é".repeat(limit / 2), limit))).toBe("platform.data_limit_exceeded");
});
