import { recoveryBounds } from "../bounds/recovery-bounds.js";
import { demoSecrets } from "./demo-secrets.js";
import type { Ruled } from "./ruled.js";

/** The rules that span settings. Each answers a line when it is broken: what must hold, with the numbers in force. */
const rules: readonly ((config: Ruled) => string | undefined)[] = [
  ({ leaseMs, heartbeatMs }) =>
    leaseMs < 3 * heartbeatMs
      ? `MAINSTAY_LEASE_MS ${leaseMs} must be at least 3 × MAINSTAY_HEARTBEAT_MS ${heartbeatMs} = ${3 * heartbeatMs}`
      : undefined,
  ({ statementTimeoutMs, idleTxTimeoutMs, leaseMs }) =>
    statementTimeoutMs + idleTxTimeoutMs > leaseMs
      ? `MAINSTAY_STATEMENT_TIMEOUT_MS ${statementTimeoutMs} + MAINSTAY_IDLE_TX_TIMEOUT_MS ${idleTxTimeoutMs} must not exceed MAINSTAY_LEASE_MS ${leaseMs}`
      : undefined,
  ({ effectMarginMs, leaseMs, heartbeatMs }) =>
    effectMarginMs >= leaseMs - heartbeatMs
      ? `MAINSTAY_EFFECT_MARGIN_MS ${effectMarginMs} must be less than MAINSTAY_LEASE_MS ${leaseMs} − MAINSTAY_HEARTBEAT_MS ${heartbeatMs}, or no effect could ever start`
      : undefined,
  ({ wedgedAfterMs, auditMs }) =>
    wedgedAfterMs < 2 * auditMs
      ? `MAINSTAY_WEDGED_AFTER_MS ${wedgedAfterMs} must be at least 2 × MAINSTAY_AUDIT_MS ${auditMs} = ${2 * auditMs}`
      : undefined,
  ({ databasePooler, databaseUrl, databaseDirectUrl }) =>
    databasePooler === "transaction" && databaseUrl !== undefined && databaseDirectUrl === databaseUrl
      ? "DATABASE_DIRECT_URL must be set and lead past the pooler while MAINSTAY_DATABASE_POOLER is transaction: lifelines, LISTEN and migrations belong to a session"
      : undefined,
  ({ dbPool }) => (dbPool < 3 ? `MAINSTAY_DB_POOL ${dbPool} must be at least 3` : undefined),
  ({ inputMaxBytes, bodyMaxBytes }) =>
    inputMaxBytes !== undefined && bodyMaxBytes !== undefined && inputMaxBytes > bodyMaxBytes
      ? `MAINSTAY_INPUT_MAX_BYTES ${inputMaxBytes} must not exceed MAINSTAY_BODY_MAX_BYTES ${bodyMaxBytes}`
      : undefined,
  (config) => {
    const [first, ...rest] = recoveryBounds(config);
    const largest = rest.reduce((a, b) => (b.bound > (a?.bound ?? 0) ? b : a), first);
    return largest !== undefined && config.policy.stallThresholdMs <= largest.bound
      ? `runtime.stalled_run_escalation.threshold_seconds ${config.policy.stallThresholdMs / 1_000} must exceed the largest recovery bound, ${largest.bound} ms of class ${largest.class}`
      : undefined;
  },
  ({ env, seams }) => (env === "production" && seams ? "MAINSTAY_SEAMS must be off while MAINSTAY_ENV is production" : undefined),
  (config) => {
    const found = config.env === "production" ? demoSecrets(config) : [];
    return found.length > 0 ? `${found.join(", ")}: a known demo value is refused while MAINSTAY_ENV is production; set a secret of your own` : undefined;
  },
];

/** Every rule that the configuration breaks, one line each; none when it can hold. */
export function brokenRules(config: Ruled): string[] {
  return rules.map((rule) => rule(config)).filter((line) => line !== undefined);
}
