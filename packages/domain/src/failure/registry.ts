import type { FailureClass } from "./classes.js";

/** What the registry says of a code; never the thrower. */
export type RegisteredFailure = {
  class: FailureClass;
  deterministic: boolean;
  message: string;
  remediation: string;
  /** The registered OpenWOP code, where one exists. */
  wire?: string;
};

const entry = (failureClass: FailureClass, ...[message, remediation, more = {}]: [string, string, { deterministic?: true; wire?: string }?]): RegisteredFailure =>
  ({ class: failureClass, deterministic: more.deterministic ?? false, message, remediation, ...(more.wire === undefined ? {} : { wire: more.wire }) });

/** The engine's own codes, closed: each under exactly one class. Spelled `platform.<code>` inside. */
export const platformFailures = {
  timeout: entry("TRANSIENT", "The node did not finish within its time-out", "Raise the node's timeoutMs, or find what it waits for"),
  rate_limited: entry("TRANSIENT", "The destination asked to slow down", "Wait, or lower the rate", { wire: "rate_limited" }),
  provider_overloaded: entry("TRANSIENT", "The destination is overloaded", "Wait for the destination to recover"),
  dependency_unavailable: entry("TRANSIENT", "A dependency could not be reached", "Check the dependency and the network", { wire: "upstream_unavailable" }),
  lease_lost: entry("TRANSIENT", "The worker lost its hold on the run", "None: a peer resumes the run"),
  run_timeout: entry("TRANSIENT", "The run passed its deadline", "Raise runTimeoutMs, or find what the run waited for", { wire: "run_timeout" }),
  effect_outcome_unconfirmed: entry("UNKNOWN", "Outcome unknown: an effect was launched and its outcome could not be confirmed", "Reconcile the effect with its destination"),
  persistence_unconfirmed: entry("UNKNOWN", "Outcome unknown: a write could not be confirmed", "Reconcile the effect with its destination"),
  schema_invalid: entry("POISONED_INPUT", "The input does not fit the workflow's schema", "Repair the input", { deterministic: true, wire: "node_config_invalid" }),
  data_limit_exceeded: entry("POISONED_INPUT", "A payload is larger than its declared limit", "Return less, or pass the result by reference", { deterministic: true, wire: "payload_too_large" }),
  payload_digest_mismatch: entry("POISONED_INPUT", "The payload is not the one that was recorded", "Find who changed the stored payload", { deterministic: true }),
  conflicting_duplicate: entry("POISONED_INPUT", "The effect was recorded for another request", "Use another business key, or restore the request", { deterministic: true }),
  approval_required: entry("POLICY_DENIED", "The policy asks for an approval", "Approve, or change the policy"),
  manual_gate: entry("POLICY_DENIED", "A manual gate is closed", "Open the gate"),
  no_auto: entry("POLICY_DENIED", "The policy forbids automatic execution", "Approve the step"),
  strict_denied: entry("POLICY_DENIED", "The strict policy does not allow this tool or destination", "Change the policy"),
  authorization_denied: entry("POLICY_DENIED", "The principal is not allowed to do this", "Grant the right", { wire: "forbidden" }),
  egress_denied: entry("POLICY_DENIED", "The egress guard does not allow this destination", "Allow the range in MAINSTAY_EGRESS_ALLOW, or use a public https address", { deterministic: true, wire: "egress_denied" }),
  budget_exhausted: entry("POLICY_DENIED", "The budget is used up", "Raise the budget"),
  replay_budget_exhausted: entry("POLICY_DENIED", "The replay budget is used up", "Raise the replay budget"),
  credential_expired: entry("CREDENTIAL_EXPIRED", "The credential has expired", "Renew the credential"),
  credential_invalid: entry("CREDENTIAL_EXPIRED", "The destination refused the credential", "Renew the credential"),
  credential_version_changed: entry("CREDENTIAL_EXPIRED", "The credential is no longer the recorded version", "Reauthorize"),
  binary_missing: entry("PREFLIGHT_FAILED", "A needed program is missing", "Install it on the workers"),
  file_missing: entry("PREFLIGHT_FAILED", "A needed file is missing", "Provide the file"),
  worktree_missing: entry("PREFLIGHT_FAILED", "The working tree is missing", "Restore the working tree"),
  route_mismatch: entry("PREFLIGHT_FAILED", "The route does not fit", "Correct the route"),
  sandbox_unavailable: entry("PREFLIGHT_FAILED", "The sandbox is not available", "Start the sandbox"),
  handler_exception: entry("DEFECT", "The workflow's code declared a defect", "Correct the code, then mark it fixed"),
  command_failed: entry("DEFECT", "A command failed", "Correct the command"),
  contract_mismatch: entry("DEFECT", "An answer does not fit the contract", "Correct the code or the contract", { deterministic: true }),
  chain_depth_exceeded: entry("DEFECT", "The chain of emissions is deeper than 50", "Break the loop of emissions", { deterministic: true }),
  crash_limit_exceeded: entry("DEFECT", "The run's workers died more often than the crash limit allows", "Find what kills the worker, then mark it fixed"),
  handback_limit_exceeded: entry("DEFECT", "The run was handed back too often without progress", "Raise the drain budget or split the node"),
  unclassified: entry("NON_RETRYABLE", "The workflow's code threw an error without a registered code", "Throw a coded failure, or correct the code"),
  business_terminal: entry("NON_RETRYABLE", "The business answer is final", "None"),
  guard_rejected: entry("NON_RETRYABLE", "A guard refused the step", "Decide"),
  stale_arrival: entry("NON_RETRYABLE", "The work arrived after its time", "None"),
  superseded_generation: entry("NON_RETRYABLE", "A newer generation has taken over", "None"),
  replay_source_missing: entry("NON_RETRYABLE", "Nothing was recorded that the replay could reuse", "Fork in mode branch", { deterministic: true, wire: "replay_source_missing" }),
} as const satisfies Record<string, RegisteredFailure>;

/** A code of the engine, without the prefix `platform.`. */
export type PlatformCode = keyof typeof platformFailures;

/** Whether a text is a code of the engine, without its prefix. */
export const isPlatformCode = (code: string): code is PlatformCode => Object.hasOwn(platformFailures, code);

/** A workflow's own codes, bound when the workflow is registered. Keys without the prefix `app.`. */
export type AppFailures = Readonly<Record<string, { class: FailureClass; message: string; remediation: string }>>;

/** Looks up `platform.x` or `app.y`. Unknown codes are `undefined`: the caller falls back to `platform.unclassified`. */
export function findFailure(code: string, app: AppFailures = {}): RegisteredFailure | undefined {
  const [space, name = ""] = splitCode(code);
  if (space === "platform") return isPlatformCode(name) ? platformFailures[name] : undefined;
  const own = Object.hasOwn(app, name) ? app[name] : undefined;
  return own && { ...own, deterministic: false };
}

/** The wire's spelling: the registered OpenWOP code where one exists, else `mainstay.<code>`; `app.y` → `mainstay.app_y`. */
export function wireCode(code: string, app: AppFailures = {}): string {
  const [space, name = ""] = splitCode(code);
  if (space === "app") return `mainstay.app_${name}`;
  return findFailure(code, app)?.wire ?? `mainstay.${name}`;
}

function splitCode(code: string): string[] {
  const dot = code.indexOf(".");
  return [code.slice(0, dot), code.slice(dot + 1)];
}
