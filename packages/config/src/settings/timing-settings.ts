import { kinds } from "./kinds.js";

/** Every time a bound is made of, in milliseconds. */
export const timingSettings = {
  heartbeatMs: kinds.milliseconds(
    { name: "MAINSTAY_HEARTBEAT_MS", about: "How often an incarnation proves its life." }, 1_000, { min: 10 },
  ),
  leaseMs: kinds.milliseconds(
    { name: "MAINSTAY_LEASE_MS", about: "How long a proof of life holds, on the database clock; at least three heartbeats." }, 3_000, { min: 30 },
  ),
  sweepMs: kinds.optionalMilliseconds(
    { name: "MAINSTAY_SWEEP_MS", about: "How often a worker with a free slot asks Postgres for overdue runs while there is work about or the broker is away; idle, four times as long beside a live broker and ten times without one." },
    "500, and 200 without a broker",
  ),
  auditMs: kinds.milliseconds(
    { name: "MAINSTAY_AUDIT_MS", about: "How often a worker compares what the database says it holds with what it knows." }, 2_000, { min: 10 },
  ),
  wedgedAfterMs: kinds.milliseconds(
    { name: "MAINSTAY_WEDGED_AFTER_MS", about: "How long after the last good audit the heartbeat stops attesting the work path." }, 10_000, { min: 20 },
  ),
  suspicionGraceMs: kinds.milliseconds(
    { name: "MAINSTAY_SUSPICION_GRACE_MS", about: "How long a freed lifeline is doubted before its runs are released." }, 100, { min: 0 },
  ),
  effectMarginMs: kinds.milliseconds(
    { name: "MAINSTAY_EFFECT_MARGIN_MS", about: "No effect starts within this time of the end of the holder’s own validity." }, 500, { min: 0 },
  ),
  sendGraceMs: kinds.milliseconds(
    { name: "MAINSTAY_SEND_GRACE_MS", about: "How long after its launch a request may still start to leave; part of the quiet instant." }, 250,
  ),
  dispatchBoundMs: kinds.milliseconds(
    { name: "MAINSTAY_DISPATCH_BOUND_MS", about: "An announced run that nobody claimed for this long counts as overdue and is swept." }, 2_000,
  ),
  relayPollMs: kinds.milliseconds(
    { name: "MAINSTAY_RELAY_POLL_MS", about: "How often the relay looks for outbox rows when nobody woke it." }, 1_000, { min: 10 },
  ),
  drainMs: kinds.milliseconds(
    { name: "MAINSTAY_DRAIN_MS", about: "How long SIGTERM waits for nodes in flight before the rest is handed back." }, 25_000, { min: 0 },
  ),
  cancelGraceMs: kinds.milliseconds(
    { name: "MAINSTAY_CANCEL_GRACE_MS", about: "How long a holder may take to honour a stop before the fence is taken." }, 2_000,
  ),
  statementTimeoutMs: kinds.milliseconds(
    { name: "MAINSTAY_STATEMENT_TIMEOUT_MS", about: "The longest a statement of the working pool may run; together with the next one at most the lease." }, 2_000, { min: 10 },
  ),
  idleTxTimeoutMs: kinds.milliseconds(
    { name: "MAINSTAY_IDLE_TX_TIMEOUT_MS", about: "The longest a transaction may lie idle before Postgres ends it." }, 1_000, { min: 10 },
  ),
  streamStallMs: kinds.milliseconds(
    { name: "MAINSTAY_STREAM_STALL_MS", about: "A reader of an event stream that takes nothing for this long, while something waits for it, is cut off; it may resume." }, 30_000, { min: 100 },
  ),
} as const;
