import { expect, test } from "vitest";
import { createWedge } from "./create-wedge.js";

test("the work path is wedged when it was not attested for longer than allowed", () => {
  const wedge = createWedge({ wedgedAfterMs: 10_000 });
  expect(wedge.wedged(10_000, 0)).toBe(false);
  expect(wedge.wedged(10_001, 0)).toBe(true);
  expect(wedge.wedged(10_001, 5_000)).toBe(false);
});

test("time in which nobody could attest does not count, until the next attestation", () => {
  const wedge = createWedge({ wedgedAfterMs: 10_000 });
  expect(wedge.wedged(1_000, 0)).toBe(false);
  wedge.excuse(60_000);
  expect(wedge.wedged(70_000, 0)).toBe(false);
  expect(wedge.wedged(70_001, 0)).toBe(true);
  expect(wedge.wedged(70_001, 65_000)).toBe(false);
  expect(wedge.wedged(75_001, 65_000)).toBe(true);
});
