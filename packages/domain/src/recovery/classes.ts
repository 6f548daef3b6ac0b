/** Recovery classes and the triggers that belong to them. A row of evidence whose trigger does not belong is refused. */
export const recoveryClasses = {
  accepted: { trigger: "never_dispatched", means: "accepted, never claimed" },
  dispatched: { trigger: "message_lost", means: "announced, not claimed" },
  severed: { trigger: "session_lost", means: "the holder's session is gone and the run has no open effect" },
  leased: { trigger: "heartbeat_expired", means: "the holder is silent; the run may be inside an effect window" },
  wedged: { trigger: "loop_wedged", means: "the process lives, its work path does not" },
  draining: { trigger: "handed_back", means: "SIGTERM" },
} as const satisfies Record<string, { trigger: string; means: string }>;

/** How a run was lost, as its bound is declared. */
export type RecoveryClass = keyof typeof recoveryClasses;
/** What noticed the loss; belongs to exactly one class. */
export type Trigger = (typeof recoveryClasses)[RecoveryClass]["trigger"];

/** The class a trigger belongs to; `undefined` for `mislaid` and others that no bound covers. */
export function classOfTrigger(trigger: string): RecoveryClass | undefined {
  const found = Object.entries(recoveryClasses).find(([, { trigger: own }]) => own === trigger);
  return found?.[0] as RecoveryClass | undefined;
}
