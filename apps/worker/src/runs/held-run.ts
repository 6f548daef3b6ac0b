import type { Disposition, FailureEnvelope, NodeStatus } from "@mainstay/domain";
import type { ClaimedRun, RecordedOutcome } from "@mainstay/database";
import type { TraceSpan } from "@mainstay/telemetry";
import type { KnownWorkflow } from "../workflows/known-workflows.js";

/** What this holder knows of a node; authoritative under its fence. */
export type NodeMemory = {
  status: NodeStatus;
  attempts: number;
  failures: number;
  asks: number;
  output?: unknown;
  /** Monotonic milliseconds at which a suspended node goes on or a failed one is tried again. */
  dueAt?: number;
  waitingOn?: "timer" | "retry" | "reconciliation" | "effect";
  effectId?: string;
};

/** An effect whose outcome is open: whether anybody can be asked, and from when on (monotonic milliseconds). */
export type OpenEffect = { canAsk: boolean; quietAt: number };

/** One execution of one node in this process. */
export type Execution = {
  nodeId: string;
  /** From 0, as on the wire. */
  attempt: number;
  abort: AbortController;
  /** Set once: what the code does afterwards is not recorded. */
  over: boolean;
  /** Effects of this execution that were launched and are neither settled nor safe to repeat. */
  openUnsafe: Map<string, OpenEffect>;
  /** What the ledger said of an effect: it decides, also where the code caught it. */
  interrupt?: Error;
  usedKeys: Set<string>;
};

/** A run this process holds, under one fence. */
export type HeldRun = {
  id: string;
  /** `<workspace>/<uuid>`, as on the wire. */
  wireId: string;
  fence: string;
  /** The incarnation it was claimed for. */
  owner: string;
  claimed: ClaimedRun;
  workflow: KnownWorkflow;
  nodes: Map<string, NodeMemory>;
  executions: Map<string, Execution>;
  timers: Map<string, NodeJS.Timeout>;
  /** Of a replay: what its source recorded from the fork point on. Its effects are answered from it and never fire. */
  recorded?: { ofNode: ReadonlyMap<string, RecordedOutcome>; ending?: RecordedOutcome };
  /** Bytes of all outputs recorded so far. */
  outputBytes: number;
  heldSince: number;
  inboxSeq: number;
  /** A cancel was seen: nothing new starts. */
  stopping: boolean;
  /** A pause was seen at `since` (monotonic ms): nothing new starts, and what is under way finishes (`draining`) or was cut (`immediate`). */
  pausing?: { how: "immediate" | "draining"; since: number; interrupted?: { nodeId: string; attempt: number } };
  /** A write is under way: what the database says of the run may be newer than what is known here. */
  writing: boolean;
  /** A write of it was refused for good: its ending is the last one that is tried. */
  unwritable: boolean;
  /** Its nodes are known here: what the earlier holders left has been read. Nothing is planned before that. */
  begun: boolean;
  /** Nothing is written for it any more. */
  dropped: boolean;
  /** The span of this claim, when the process traces. */
  trace?: TraceSpan | undefined;
};

/** How an execution, or a wait, of a node ended; many of one run become one write. */
export type Settlement =
  /** `bytes`: of the output's JSON. */
  | { kind: "completed"; node: string; output: unknown; bytes: number; durationMs: number }
  /** `effectIds`: the effects it is unknown of. `final`: it is not tried again, whatever its class. */
  | { kind: "failed"; node: string; failure: FailureEnvelope; retryAfterMs: number; durationMs: number; effectIds?: readonly string[]; final?: Disposition }
  | { kind: "suspended"; node: string; waitingOn: "timer" | "reconciliation" | "effect"; dueMs: number; asks: number; effectId?: string }
  /** A wait that was held in this process is over. */
  | { kind: "due"; node: string }
  /** Ends the run `cancelled`. */
  | { kind: "cancel" }
  /** Plans anew: gives the run to a peer (drain), pauses it, or goes on. */
  | { kind: "yield" }
  /** The definition or the input cannot be executed. */
  | { kind: "refused"; failure: FailureEnvelope };

export const isExecuting = (run: HeldRun): boolean => run.executions.size > 0;

/** Asked anew after every await: a peer may have taken it meanwhile. */
export const isHeld = (run: HeldRun): boolean => !run.dropped;

/** Held, and nobody has asked it to be cancelled. */
export const goesOn = (run: HeldRun): boolean => isHeld(run) && !run.stopping;
