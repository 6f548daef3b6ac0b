import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffMs, decide, MAX_BACKOFF_MS, mustBeUnknown, reasonOf } from "./decide.js";
import { toEnvelope } from "./envelope.js";
import { platformFailures, type PlatformCode } from "./registry.js";

test("the pause before a retry doubles from its base", () => {
  expect([1, 2, 3, 4].map((failures) => backoffMs(failures, { baseMs: 1000, jitter: 1 }))).toEqual([1000, 2000, 4000, 8000]);
});

test("rate limiting quadruples the pause, and it is never shorter than the destination asked for", () => {
  expect(backoffMs(1, { baseMs: 1000, jitter: 1, rateLimited: true })).toBe(4000);
  expect(backoffMs(1, { baseMs: 1000, jitter: 0.5, retryAfterMs: 9000 })).toBe(9000);
});

test("a pause is a whole number of milliseconds between nothing and six hours, and jitter moves it by half at most", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 1, max: 3_600_000 }), fc.double({ min: 0.5, max: 1.5, noNaN: true }), (failures, baseMs, jitter) => {
    const pause = backoffMs(failures, { baseMs, jitter });
    expect(Number.isInteger(pause)).toBe(true);
    expect(pause).toBeGreaterThanOrEqual(0);
    expect(pause).toBeLessThanOrEqual(MAX_BACKOFF_MS);
    const plain = backoffMs(failures, { baseMs, jitter: 1 });
    if (plain < MAX_BACKOFF_MS) expect(Math.abs(pause - plain)).toBeLessThanOrEqual(plain / 2 + 1);
  }));
});

test("a transient failure is retried until failures reach maxRetries + 1, then retry_exhausted", () => {
  const failure = toEnvelope("platform.timeout");
  expect([1, 2, 3, 4].map((failures) => decide(failure, { failures, maxRetries: 3 }))).toEqual([{ verb: "retry" }, { verb: "retry" }, { verb: "retry" }, { verb: "bury", disposition: "retry_exhausted" }]);
  expect(decide(failure, { failures: 1, maxRetries: 0 })).toEqual({ verb: "bury", disposition: "retry_exhausted" });
});

test("UNKNOWN never becomes a retry, and every other class but TRANSIENT is buried at once", () => {
  for (const code of Object.keys(platformFailures) as PlatformCode[]) {
    const failure = toEnvelope(`platform.${code}`);
    const verdict = decide(failure, { failures: 1, maxRetries: 100 });
    if (failure.class === "UNKNOWN") expect(verdict).toEqual({ verb: "bury", disposition: "outcome_unknown" });
    else expect(verdict.verb, code).toBe(failure.class === "TRANSIENT" ? "retry" : "bury");
  }
});

test("an attempt that ends with an unsafe effect open is UNKNOWN", () => {
  expect([0, 1, 2].map((openUnsafeEffects) => mustBeUnknown({ openUnsafeEffects }))).toEqual([false, true, true]);
});

test("a reason is registered text with counts, never empty", () => {
  expect(reasonOf(toEnvelope("platform.timeout"), "retry_exhausted", { attempts: 5, failures: 4 })).toBe("platform.timeout: The node did not finish within its time-out (4 failed attempts)");
  expect(reasonOf(toEnvelope("platform.crash_limit_exceeded"), "crash_limit_exceeded", { attempts: 5, failures: 0 })).toContain("(5 attempts)");
});
