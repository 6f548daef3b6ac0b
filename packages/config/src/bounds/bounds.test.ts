import { expect, test } from "vitest";
import { readConfig } from "../read-config.js";
import { attemptBound } from "./attempt-bound.js";
import { recoveryBounds } from "./recovery-bounds.js";

const least = { DATABASE_URL: "postgres://db/mainstay" };
const bounds = (env = {}) => recoveryBounds(readConfig("api", { ...least, ...env }));
const boundOf = (name: string, env = {}) => bounds(env).find((one) => one.class === name)?.bound;

test("each bound is exactly the sum of its terms, whole and not negative", () => {
  for (const env of [{}, { MAINSTAY_LEASE_MS: "9000", MAINSTAY_SUSPICION_GRACE_MS: "0" }, { MAINSTAY_BROKER: "none" }]) {
    for (const { bound, terms } of bounds(env)) {
      expect(bound).toBe(terms.reduce((sum, { ms }) => sum + ms, 0));
      expect(terms.every(({ ms }) => Number.isInteger(ms) && ms >= 0)).toBe(true);
    }
  }
});

test("at default settings leased is 4.5 s, severed within 1 s, wedged 14.5 s and draining the drain and a pick-up", () => {
  expect(boundOf("leased")).toBe(4_500);
  expect(boundOf("severed")).toBeLessThanOrEqual(1_000);
  expect(boundOf("wedged")).toBe(14_500);
  expect(boundOf("draining")).toBe(25_500);
});

test("a setting moves the bounds that it is a term of", () => {
  expect(boundOf("leased", { MAINSTAY_LEASE_MS: "6000" })).toBe(7_500);
  expect(boundOf("leased", { MAINSTAY_SWEEP_MS: "800" })).toBe(4_800);
  expect(boundOf("dispatched", { MAINSTAY_DISPATCH_BOUND_MS: "5000" })).toBe(7_000);
  expect(boundOf("accepted", { MAINSTAY_RELAY_POLL_MS: "3000" })).toBe(7_000);
});

test("without a broker a run waits for the sweep alone", () => {
  expect(boundOf("accepted", { MAINSTAY_BROKER: "none" })).toBe(2_000 + 500);
  expect(boundOf("dispatched", { MAINSTAY_BROKER: "none" })).toBe(2_000 + 500);
});

test("without the death watch nothing is severed and the class is not declared", () => {
  expect(bounds().map((one) => one.class)).toEqual(["accepted", "dispatched", "severed", "leased", "wedged", "draining"]);
  expect(bounds({ MAINSTAY_DEATH_WATCH: "off" }).map((one) => one.class)).toEqual(["accepted", "dispatched", "leased", "wedged", "draining"]);
});

test("the attempt bound is the sum of every limit, with a definition's own retries in place of the default", () => {
  const config = readConfig("api", least);
  expect(attemptBound(config).bound).toBe(4 + 5 + 20 + 20);
  expect(attemptBound({ ...config, maxAttempts: 1 }).bound).toBe(1 + 5 + 20 + 20);
});
