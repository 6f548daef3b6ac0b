import type { Effect } from "../effects/effect-options.js";
import type { FailureDetail, WorkflowFailure } from "../failures/workflow-failure.js";
import type { NotApplied } from "../failures/not-applied.js";

/** A recorded JSON value: navigable without a cast, typed exactly as `JSON.parse` types what it gives back. */
export type Recorded = ReturnType<typeof JSON.parse>;

/** The recorded outputs of the nodes that this node comes after, by node id. */
export type Done = Readonly<Record<string, Recorded>>;

/** The run that a node executes in. */
export type NodeRun<RunInput = unknown> = Readonly<{
  /** Bound id `<workspace>/<uuid>`. */
  id: string;
  workspace: string;
  workflowId: string;
  workflowVersion: string;
  /** As it was accepted: validated, defaults of a schema not filled in. */
  input: RunInput;
  tags: readonly string[];
  metadata: Readonly<Record<string, unknown>>;
}>;

/** Structured log lines of a node; fields are flat. Never a secret or a payload. */
export type NodeLogger = Readonly<
  Record<"debug" | "info" | "warn" | "error", (message: string, fields?: Readonly<Record<string, unknown>>) => void>
>;

/**
 * What a node's code is given. A node is the unit of checkpoint: its output is recorded once and it never runs again.
 * What reaches outside without `effect` is at-least-once.
 */
export type NodeContext<RunInput = unknown, Input = Recorded> = Readonly<{
  /** What the node's own `input` function made of the finished nodes; without one, the run's input. */
  input: Input;
  run: NodeRun<RunInput>;
  /** From 0; counts every execution that began, crashed ones too. */
  attempt: number;
  /** The fence of the claim that this execution runs under; strictly rises per run. A bigint, as text. */
  fence: string;
  /** Aborts at cancel, drain, time-out and when the lease is lost. What settles later is not recorded. */
  signal: AbortSignal;
  effect: Effect;
  /** Makes a coded failure to throw. */
  failure: (code: string, detail?: FailureDetail) => WorkflowFailure;
  /** Makes a definite refusal to throw inside an effect. */
  notApplied: (code: string, options?: Readonly<{ cause?: unknown }>) => NotApplied;
  logger: NodeLogger;
  /** Charges units of the run's budget, at least 0. */
  spend: (units: number) => void;
}>;
