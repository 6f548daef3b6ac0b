import { createHash } from "node:crypto";
import { failureClasses, fingerprintOf, reasonOf, toEnvelope, toWireError, type Disposition } from "@mainstay/domain";

/** The endings that no holder writes, as the statements of fleet and lanes need them. */
export type Endings = Readonly<Record<"crash" | "handback" | "unknown" | "deadline", Readonly<Record<string, unknown>>>>;

const ending = (code: string, disposition: Disposition): Readonly<Record<string, unknown>> => {
  const failure = toEnvelope(code, { component: "fleet" });
  const { firstState, nextAction } = failureClasses[failure.class];
  return Object.freeze({
    failure, class: failure.class, code, disposition, state: firstState, nextAction,
    fingerprint: createHash("sha256").update(fingerprintOf(failure)).digest("hex"),
    reason: reasonOf(failure, disposition, { attempts: 1, failures: 0 }).replace(/ \(1 attempts\)$/, ""),
    error: toWireError(failure, disposition),
  });
};

/** Built once from the failure registry. */
export const endings: Endings = Object.freeze({
  crash: ending("platform.crash_limit_exceeded", "crash_limit_exceeded"),
  handback: ending("platform.handback_limit_exceeded", "handback_limit_exceeded"),
  unknown: ending("platform.effect_outcome_unconfirmed", "outcome_unknown"),
  deadline: ending("platform.run_timeout", "handler_error"),
});
