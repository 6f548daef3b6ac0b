/** The eight classes of `failure/v1`, closed. What each means for retries and for the first recovery state. */
export const failureClasses = {
  TRANSIENT: { retryable: true, firstState: "RETRY_ELIGIBLE", nextAction: "replay" },
  UNKNOWN: { retryable: false, firstState: "RECONCILIATION_REQUIRED", nextAction: "reconcile" },
  POISONED_INPUT: { retryable: false, firstState: "INPUT_REPAIR_REQUIRED", nextAction: "repair_input" },
  POLICY_DENIED: { retryable: false, firstState: "APPROVAL_REQUIRED", nextAction: "approve" },
  CREDENTIAL_EXPIRED: { retryable: false, firstState: "REAUTHORIZATION_REQUIRED", nextAction: "reauthorize" },
  PREFLIGHT_FAILED: { retryable: false, firstState: "ENVIRONMENT_REPAIR_REQUIRED", nextAction: "repair_environment" },
  DEFECT: { retryable: false, firstState: "OPERATOR_DECISION_REQUIRED", nextAction: "decide" },
  NON_RETRYABLE: { retryable: false, firstState: "OPERATOR_DECISION_REQUIRED", nextAction: "decide" },
} as const satisfies Record<string, { retryable: boolean; firstState: string; nextAction: string }>;

/** One of the eight classes. */
export type FailureClass = keyof typeof failureClasses;

/** Whether a text names one of the eight classes. */
export const isFailureClass = (name: string): name is FailureClass => Object.hasOwn(failureClasses, name);

/** Why the engine gave up; the class stays that of the last failure. */
export type Disposition =
  | "retry_exhausted" | "handler_error" | "target_resolution_failed" | "chain_depth_exceeded"
  | "outcome_unknown" | "crash_limit_exceeded" | "handback_limit_exceeded" | "dead_lettered_by_operator";
