import { expect, test } from "vitest";
import { isDelayMs } from "./delay.js";

test("a delay is a number of milliseconds, at least 0, that ends before the year 10000", () => {
  const tenYears = 10 * 365 * 86_400_000;
  for (const value of [0, -0, 0.5, 1, 2 ** 31 - 1, 2 ** 31, tenYears, Date.UTC(9999, 11, 31) - Date.now()]) expect(isDelayMs(value), String(value)).toBe(true);
  for (const value of [-1, -0.001, Number.NaN, Infinity, -Infinity, "5", null, undefined, true, [1], {}, 1e21, Date.UTC(10_000, 0, 1) - Date.now() + 1_000]) {
    expect(isDelayMs(value), JSON.stringify(value)).toBe(false);
  }
});
