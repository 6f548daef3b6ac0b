import { expect, test } from "vitest";
import { until } from "./until.js";

test("until answers what the probe answered, 0 and an empty string too", async () => {
  let asked = 0;
  expect(await until("a third answer", () => (++asked === 3 ? "seen" : undefined))).toBe("seen");
  expect(await until("a number", () => 0)).toBe(0);
  expect(await until("a text", () => "")).toBe("");
});

test("until names what it waited for and the probe's last error when the time is up", async () => {
  const probe = () => {
    throw new Error("no such row");
  };
  await expect(until("the run's row", probe, 60)).rejects.toThrow("waited 60 ms for the run's row; the probe last said: no such row");
});
