/** OpenWOP 2's words, in the database as on the wire. */
export type RunStatus =
  | "pending" | "running" | "paused" | "waiting-approval" | "waiting-input" | "waiting-external"
  | "cancelling" | "completed" | "failed" | "cancelled";

/** The statuses that nothing leaves. */
export const terminalStatuses = ["completed", "failed", "cancelled"] as const satisfies readonly RunStatus[];
/** A status that nothing leaves. */
export type TerminalStatus = (typeof terminalStatuses)[number];

/** Statuses in which a run without a holder may be claimed once it is due. */
export const claimableStatuses = ["pending", "running", "waiting-external"] as const satisfies readonly RunStatus[];

/** What a run that nobody holds waits for. */
export type WaitingOn = "dispatch" | "timer" | "retry" | "capacity" | "reconciliation" | "event" | "effect" | "approval" | "input";

/**
 * How a move treats the hold. `take` raises the fence and sets an owner; `hold` must present owner and fence;
 * `drop` presents them, raises the fence and leaves no owner; `lapsed` takes the fence from an owner that has lapsed or
 * ended; `suspected` from one whose session is gone, once a run; `seize` takes it after a declared grace; `none`
 * moves only a run that nobody holds.
 */
export type Fence = "take" | "hold" | "drop" | "lapsed" | "suspected" | "seize" | "none";

/** One legal move. */
export type Transition = {
  readonly from: readonly RunStatus[];
  /** `same`: the status stays and only the holder changes. */
  readonly to: readonly (RunStatus | "same")[];
  readonly by: "api" | "worker" | "fleet" | "lane";
  readonly fence: Fence;
  readonly counts: "nothing" | "claim" | "failure" | "crash or loss" | "loss" | "handBack";
  /** Writes an outbox row, or a due time, in the same statement. */
  readonly announces: boolean;
  readonly statement: string;
};

const live: readonly RunStatus[] = ["pending", "running", "waiting-external", "paused", "waiting-approval", "waiting-input", "cancelling"];

/**
 * Every legal move of a run. Nothing else writes `runs.status`: the SQL guards, docs/states.md and the model check
 * are compared with this value.
 */
export const transitions = {
  accept: { from: [], to: ["pending"], by: "api", fence: "none", counts: "nothing", announces: true, statement: "runs.accept" },
  fork: { from: [], to: ["pending"], by: "api", fence: "none", counts: "nothing", announces: true, statement: "runs.fork" },
  claim: { from: claimableStatuses, to: ["running"], by: "worker", fence: "take", counts: "claim", announces: false, statement: "runs.claim" },
  sweep: { from: claimableStatuses, to: ["running"], by: "worker", fence: "take", counts: "claim", announces: false, statement: "runs.sweep" },
  checkpoint: { from: ["running"], to: ["running"], by: "worker", fence: "hold", counts: "nothing", announces: false, statement: "runs.progress" },
  complete: { from: ["running"], to: ["completed"], by: "worker", fence: "hold", counts: "nothing", announces: false, statement: "runs.progress" },
  retry: { from: ["running"], to: ["running"], by: "worker", fence: "drop", counts: "failure", announces: true, statement: "runs.progress" },
  park: { from: ["running"], to: ["running", "waiting-external"], by: "worker", fence: "drop", counts: "nothing", announces: true, statement: "runs.progress" },
  bury: { from: ["running"], to: ["failed"], by: "worker", fence: "hold", counts: "failure", announces: false, statement: "runs.progress" },
  stop: { from: ["running"], to: ["cancelled"], by: "worker", fence: "hold", counts: "nothing", announces: false, statement: "runs.progress" },
  pauseHeld: { from: ["running"], to: ["paused"], by: "worker", fence: "drop", counts: "nothing", announces: false, statement: "runs.progress" },
  handBack: { from: ["running"], to: ["running", "cancelled", "paused"], by: "worker", fence: "drop", counts: "handBack", announces: true, statement: "runs.hand_back" },
  takeOver: { from: ["running"], to: ["running", "cancelled", "paused", "failed"], by: "fleet", fence: "lapsed", counts: "crash or loss", announces: true, statement: "runs.take_over" },
  suspect: { from: ["running"], to: ["running", "cancelled", "paused"], by: "fleet", fence: "suspected", counts: "loss", announces: true, statement: "runs.suspect" },
  cancel: { from: live.filter((status) => status !== "running"), to: ["cancelled"], by: "api", fence: "none", counts: "nothing", announces: false, statement: "runs.request_stop" },
  cancelUnheld: { from: ["running"], to: ["cancelled"], by: "api", fence: "none", counts: "nothing", announces: false, statement: "runs.request_stop" },
  pause: { from: live.filter((status) => !["running", "paused", "cancelling"].includes(status)), to: ["paused"], by: "api", fence: "none", counts: "nothing", announces: false, statement: "runs.request_pause" },
  pauseUnheld: { from: ["running"], to: ["paused"], by: "api", fence: "none", counts: "nothing", announces: false, statement: "runs.request_pause" },
  unpause: { from: ["paused"], to: ["pending", "running", "waiting-external", "waiting-approval", "waiting-input"], by: "api", fence: "none", counts: "nothing", announces: true, statement: "runs.unpause" },
  enforceStop: { from: live.filter((status) => status !== "paused"), to: ["cancelled", "paused"], by: "lane", fence: "seize", counts: "nothing", announces: false, statement: "runs.enforce_stops" },
  enforceDeadline: { from: live, to: ["failed"], by: "lane", fence: "seize", counts: "nothing", announces: false, statement: "runs.enforce_deadlines" },
} as const satisfies Record<string, Transition>;

/** The name of a legal move. */
export type Verb = keyof typeof transitions;

/** Whether nothing leaves this status. */
export const isTerminal = (status: RunStatus): status is TerminalStatus =>
  (terminalStatuses as readonly RunStatus[]).includes(status);
