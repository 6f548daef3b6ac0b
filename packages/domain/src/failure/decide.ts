import type { Disposition } from "./classes.js";
import type { FailureEnvelope } from "./envelope.js";

/** How often and how fast a failed node is tried again; `baseMs` in milliseconds. */
export type RetryRule = { maxRetries: number; baseMs: number };

/** At most six hours between two tries. */
export const MAX_BACKOFF_MS = 6 * 3600 * 1000;

/**
 * Milliseconds before the next try after `failures` settled failures (from 1): base, 2 × base, 4 × base …, ×4 after
 * rate limiting, never shorter than the destination asked for. `jitter` is 0.5 to 1.5, or 1 to switch it off.
 */
export function backoffMs(
  failures: number,
  { baseMs, jitter, rateLimited = false, retryAfterMs = 0 }: { baseMs: number; jitter: number; rateLimited?: boolean; retryAfterMs?: number },
): number {
  const plain = baseMs * 2 ** Math.min(Math.max(0, failures - 1), 40) * (rateLimited ? 4 : 1) * jitter;
  return Math.round(Math.min(MAX_BACKOFF_MS, Math.max(plain, retryAfterMs)));
}

/**
 * The effect-window rule, above every classifier: an attempt that ended with a launched, unsettled effect that is not
 * safe to repeat is UNKNOWN, whatever it threw.
 */
export const mustBeUnknown = (window: { openUnsafeEffects: number }): boolean => window.openUnsafeEffects > 0;

/** What becomes of a node after a settled failure. */
export type Verdict =
  | { verb: "retry" }
  | { verb: "bury"; disposition: Disposition };

/** What to do after the `failures`-th settled failure of a node. Only `failures` is compared with the bound. */
export function decide(failure: FailureEnvelope, at: { failures: number; maxRetries: number }): Verdict {
  if (failure.class === "UNKNOWN") return { verb: "bury", disposition: "outcome_unknown" };
  if (!failure.retryable) return { verb: "bury", disposition: "handler_error" };
  return at.failures >= at.maxRetries + 1 ? { verb: "bury", disposition: "retry_exhausted" } : { verb: "retry" };
}

/** One line for the event and the dead letter: registered text only, never what code threw. */
export function reasonOf(failure: FailureEnvelope, disposition: Disposition, counts: { attempts: number; failures: number }): string {
  const tail: Record<Disposition, string> = {
    retry_exhausted: ` (${counts.failures} failed attempts)`,
    handler_error: "",
    target_resolution_failed: "",
    chain_depth_exceeded: "",
    outcome_unknown: "",
    crash_limit_exceeded: ` (${counts.attempts} attempts)`,
    handback_limit_exceeded: ` (${counts.attempts} attempts)`,
    dead_lettered_by_operator: " (buried by an operator)",
  };
  return `${failure.code}: ${failure.message}${tail[disposition]}`;
}

