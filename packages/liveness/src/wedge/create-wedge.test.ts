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
  wedge.excuse({ fromMs: 1_000, toMs: 61_000 });
  expect(wedge.wedged(70_000, 0)).toBe(false);
  expect(wedge.wedged(70_001, 0)).toBe(true);
  expect(wedge.wedged(70_001, 65_000)).toBe(false);
  expect(wedge.wedged(75_001, 65_000)).toBe(true);
});

test("an attestation from right before an outage that is seen only after it takes no excuse away", () => {
  const wedge = createWedge({ wedgedAfterMs: 10_000 });
  expect(wedge.wedged(1_000, 0)).toBe(false);
  wedge.excuse({ fromMs: 1_100, toMs: 31_100 });
  expect(wedge.wedged(31_100, 1_050)).toBe(false);
  expect(wedge.wedged(41_050, 1_050)).toBe(false);
  expect(wedge.wedged(41_051, 1_050)).toBe(true);
});

test("an attestation amid excused time leaves the rest of it excused", () => {
  const wedge = createWedge({ wedgedAfterMs: 10_000 });
  wedge.excuse({ fromMs: 0, toMs: 30_000 });
  expect(wedge.wedged(40_000, 20_000)).toBe(false);
  expect(wedge.wedged(40_001, 20_000)).toBe(true);
});

test("the same time is excused once", () => {
  const wedge = createWedge({ wedgedAfterMs: 10_000 });
  wedge.excuse({ fromMs: 0, toMs: 20_000 });
  wedge.excuse({ fromMs: 5_000, toMs: 25_000 });
  wedge.excuse({ fromMs: 1_000, toMs: 2_000 });
  expect(wedge.wedged(35_000, 0)).toBe(false);
  expect(wedge.wedged(35_001, 0)).toBe(true);
});
