import type { EgressOutcome } from "../request/outcome.js";

/**
 * What an outcome says of the effect: it happened, it definitely did not, or
 * nobody knows yet.
 */
export type Settlement = "confirmed" | "absent" | "unsettled";

/** What single statuses mean at one destination, where it differs from the table. */
export type AnswerOverrides = Readonly<Partial<Record<number, Settlement>>>;

/** 4xx answers after which the effect may have happened, or may be happening under our own key. */
const undecided: ReadonlySet<number> = new Set([408, 409]);

/**
 * Judges one outcome. Without a byte sent nothing happened, whatever the
 * overrides say. 2xx confirms; 425, 429 and every other definite 4xx refuse; a
 * redirect, 408, 409, 5xx, a time-out or a broken connection leave it open.
 */
export function classifyAnswer(outcome: EgressOutcome, overrides: AnswerOverrides = {}): Settlement {
  if (!outcome.sent) return "absent";
  const { status } = outcome;
  if (status === undefined) return "unsettled";
  const override = overrides[status];
  if (override !== undefined) return override;
  if (status >= 200 && status < 300) return "confirmed";
  return status >= 400 && status < 500 && !undecided.has(status) ? "absent" : "unsettled";
}
