import type { FailureClass } from "@mainstay/domain";

/** The eight failure classes; the class decides about automatic retry and the first recovery state. */
export const workflowFailureClasses = [
  "TRANSIENT", "UNKNOWN", "POISONED_INPUT", "POLICY_DENIED", "CREDENTIAL_EXPIRED", "PREFLIGHT_FAILED", "DEFECT",
  "NON_RETRYABLE",
] as const satisfies readonly FailureClass[];

/** How a workflow registers one failure code of its own. The thrower decides none of this. */
export type FailureRegistration = Readonly<{
  class: FailureClass;
  /** One plain sentence for the operator; no payload, no secret. */
  message: string;
  /** What the operator can do about it. */
  remediation: string;
}>;
