import { expect, test } from "vitest";
import { digestOf } from "./digest.js";

test("the digest is of the canonical request: the order of members and absent ones do not count", () => {
  expect(digestOf({ a: 1, b: { c: [1, 2] } })).toBe(digestOf({ b: { c: [1, 2], d: undefined }, a: 1 }));
  expect(digestOf({ a: 1 })).toMatch(/^[0-9a-f]{64}$/);
});

test("another value, another order of a list and another type give another digest", () => {
  const digests = [{ a: 1 }, { a: 2 }, { a: "1" }, { a: [1, 2] }, { a: [2, 1] }, undefined].map(digestOf);
  expect(new Set(digests).size).toBe(digests.length);
  expect(digestOf(undefined)).toBe(digestOf(null));
});
