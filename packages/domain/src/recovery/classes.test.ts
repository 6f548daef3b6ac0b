import { expect, test } from "vitest";
import { classOfTrigger, recoveryClasses } from "./classes.js";

test("every trigger belongs to one class, and what no bound covers to none", () => {
  for (const [name, { trigger }] of Object.entries(recoveryClasses)) expect(classOfTrigger(trigger)).toBe(name);
  expect(new Set(Object.values(recoveryClasses).map(({ trigger }) => trigger)).size).toBe(Object.keys(recoveryClasses).length);
  expect(["mislaid", "stop", "deadline", ""].map(classOfTrigger)).toEqual([undefined, undefined, undefined, undefined]);
});
