import { expect, test } from "vitest";
import { resolveConfig } from "./resolve-config.js";

test("a reference stands for that member of the input, at any depth", () => {
  expect(resolveConfig({ url: { $input: "url" }, body: { list: [{ $input: "n" }] } }, { url: "http://x", n: 0 })).toEqual({ url: "http://x", body: { list: [0] } });
});

test("a member that is absent takes the default, and without one is left out", () => {
  expect(resolveConfig({ a: { $input: "a", default: 7 }, b: { $input: "b" } }, {})).toEqual({ a: 7 });
  expect(resolveConfig({ a: { $input: "a", default: 7 } }, "text")).toEqual({ a: 7 });
});

test("a member named like one of every object is the input's own or nothing", () => {
  expect(resolveConfig({ a: { $input: "toString" }, b: { $input: "constructor", default: 1 } }, {})).toEqual({ b: 1 });
});
