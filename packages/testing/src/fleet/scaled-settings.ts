/**
 * Times divided so that a lease is one second. What they promise each other holds as it does with the defaults: three
 * heartbeats in a lease, statement and idle time-outs within it.
 */
export const scaledSettings = {
  MAINSTAY_HEARTBEAT_MS: "250",
  MAINSTAY_LEASE_MS: "1000",
  MAINSTAY_SWEEP_MS: "150",
  MAINSTAY_AUDIT_MS: "400",
  MAINSTAY_WEDGED_AFTER_MS: "2000",
  MAINSTAY_SUSPICION_GRACE_MS: "100",
  MAINSTAY_EFFECT_MARGIN_MS: "200",
  MAINSTAY_SEND_GRACE_MS: "150",
  MAINSTAY_DISPATCH_BOUND_MS: "700",
  MAINSTAY_RELAY_POLL_MS: "300",
  MAINSTAY_DRAIN_MS: "3000",
  MAINSTAY_CANCEL_GRACE_MS: "700",
  MAINSTAY_STATEMENT_TIMEOUT_MS: "650",
  MAINSTAY_IDLE_TX_TIMEOUT_MS: "300",
} as const;
