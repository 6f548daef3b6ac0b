import type {
  BulkCancelResponse,
  CancelRunResponse,
  Configurable,
  CreateRunResponse,
  EffectList,
  ForkRunRequest,
  ForkRunResponse,
  ListRunsQuery,
  ListRunsResponse,
  PauseRunResponse,
  PollEventsResponse,
  ResumeRunResponse,
  RunError,
  RunEvent,
  RunSnapshot,
  RunStatus,
} from "@mainstay/contract";

/** How a run's log is followed. */
export type StreamOptions = Readonly<{
  /** The first sequence wanted; default 0, the whole log. */
  from?: number;
  /** `debug` (default): every event of the log. `updates`: what a reader of the run's progress needs; or another mode. */
  streamMode?: string;
  signal?: AbortSignal;
  /** Milliseconds, from a lost connection on, to go on reconnecting without one event or keep-alive; default 60,000. */
  reconnectForMs?: number;
  /** Milliseconds of silence after which a connection is taken for dead; default 35,000. The server says something at least every 15 s. */
  silenceMs?: number;
}>;

/** What may be said beside the inputs when a run is created. */
export type CreateRunOptions = Readonly<{
  /** 22 to 128 of `A-Z a-z 0-9 . _ ~ -`. Without one the client makes one and keeps it over its own retries. */
  idempotencyKey?: string;
  tags?: readonly string[];
  metadata?: Readonly<Record<string, unknown>>;
  configurable?: Configurable;
  signal?: AbortSignal;
}>;

/** How a run is paused. */
export type PauseRunOptions = Readonly<{ reason?: string; drainPolicy?: "immediate" | "drain-current-node"; idempotencyKey?: string }>;

/** A created run. `replayed` says that the key had been used before and this is that run. */
export type CreatedRun = CreateRunResponse & Readonly<{ idempotencyKey: string; replayed: boolean }>;

/** How a run ended. `outputs` of a completed run, `error` of a failed one. */
export type RunResult = Readonly<{
  runId: string;
  status: RunStatus;
  outputs?: Readonly<Record<string, unknown>>;
  error?: RunError;
}>;

/** The runs of the key's workspace. A `runId` is the plain bound id, as every answer carries it. */
export type RunsClient = Readonly<{
  create: (workflowId: string, inputs?: unknown, options?: CreateRunOptions) => Promise<CreatedRun>;
  get: (runId: string) => Promise<RunSnapshot>;
  list: (query?: ListRunsQuery) => Promise<ListRunsResponse>;
  /** Asks for the stop; the run may still read `cancelling`. */
  cancel: (runId: string, options?: Readonly<{ reason?: string; idempotencyKey?: string }>) => Promise<CancelRunResponse>;
  /** Asks for the stop of up to 100 runs at once; what became of each stands in the order they were named. */
  cancelMany: (runIds: readonly string[], options?: Readonly<{ reason?: string; idempotencyKey?: string }>) => Promise<BulkCancelResponse>;
  /**
   * Pauses the run: nodes under way finish (`drain-current-node`, default) or are cut (`immediate`), nothing new starts.
   * Without `pausedAt` its worker still has to honour it. The run's deadline counts on.
   */
  pause: (runId: string, options?: PauseRunOptions) => Promise<PauseRunResponse>;
  /** Lets a paused run go on. */
  resume: (runId: string, options?: Readonly<{ idempotencyKey?: string }>) => Promise<ResumeRunResponse>;
  /**
   * A new run from any point of one that has ended. `branch`: effects from `fromSeq` on fire anew, options may change.
   * `replay`: effects are answered from the record and never fire.
   */
  fork: (runId: string, fork: ForkRunRequest, options?: Readonly<{ idempotencyKey?: string }>) => Promise<ForkRunResponse>;
  effects: (runId: string) => Promise<EffectList>;
  /** One long poll: what stands after `afterSequence`, at once or within `timeoutS` (1 to 60). */
  poll: (
    runId: string,
    options?: Readonly<{ afterSequence?: number; timeoutS?: number; signal?: AbortSignal }>,
  ) => Promise<PollEventsResponse>;
  /** The log as it grows, resumed over lost connections; ends after the terminal event. */
  events: (runId: string, options?: StreamOptions) => AsyncGenerator<RunEvent, void, undefined>;
  /** Waits for the end. @throws WaitedTooLong */
  result: (runId: string, options?: Readonly<{ timeoutMs?: number; signal?: AbortSignal }>) => Promise<RunResult>;
}>;
