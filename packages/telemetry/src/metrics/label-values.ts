/** Closed sets that label values come from: the words of the vocabulary. */
export const labelValues = {
  op: ["accept", "claim", "checkpoint", "effect", "end"],
  status: ["pending", "running", "paused", "waiting-approval", "waiting-input", "waiting-external", "cancelling", "completed", "failed", "cancelled"],
  terminal: ["completed", "failed", "cancelled"],
  recoveryClass: ["accepted", "dispatched", "severed", "leased", "wedged", "draining"],
  trigger: ["never_dispatched", "message_lost", "session_lost", "heartbeat_expired", "loop_wedged", "handed_back"],
  failureClass: [
    "TRANSIENT", "UNKNOWN", "POISONED_INPUT", "POLICY_DENIED", "CREDENTIAL_EXPIRED", "PREFLIGHT_FAILED", "DEFECT", "NON_RETRYABLE",
  ],
  effectClass: ["read_only", "idempotent_write", "non_idempotent_write"],
  effectState: ["launched", "confirmed", "absent", "unknown"],
  topic: ["dispatch"],
  brokerFault: ["connection", "timed_out", "read_only", "no_replicas", "out_of_memory", "busy", "loading", "denied", "moved", "other"],
  badTicket: ["unparsable", "no_run_ids", "too_many_runs", "run_not_found", "unpublishable"],
} as const;
