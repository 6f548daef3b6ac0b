/** W3C trace context, as the header spells it: `00-<32 hex>-<16 hex>-<2 hex>`. */
export type Traceparent = string;

/** One open span. */
export type TraceSpan = Readonly<{
  traceparent: Traceparent;
  /** Runs `act`, and what it awaits, with this span as the current one. */
  within: <T>(act: () => T) => T;
  /** Ends it once; `errorType` comes from a closed set (a failure code, an HTTP status). Later calls change nothing. */
  end: (ending?: Readonly<{ errorType?: string; outcome?: string; status?: number }>) => void;
}>;

/** A claim, as its span tells it. */
export type ClaimTrace = Readonly<{
  /** The claim's identity, minted before its first try: the attempt's trace context is derived from it. */
  claimId: string;
  runId: string;
  workflowId: string;
  pool: string;
  fence: string;
  /** Stored with the run at its acceptance. */
  traceparent: Traceparent | null;
  /** Why the run was taken from its last holder, if it was. */
  trigger: string | null;
  /** Claim of that holder. */
  lostClaimId: string | null;
}>;

/**
 * The spans of the fleet (openwop.md §12, ops.md "Traces through the queue"). There is none of this in a process whose
 * `MAINSTAY_TRACING` is off: callers hold `undefined` and nothing of OpenTelemetry's SDK is loaded.
 */
export type Tracing = Readonly<{
  /** SERVER span `POST /runs`, child of the caller's context. */
  serve: (request: Readonly<{ route: string; method: string; traceparent: Traceparent | undefined }>) => TraceSpan;
  /** PRODUCER span of a run's acceptance; its context is stored with the run and nobody rewrites it. */
  send: (parent: TraceSpan | undefined, run: Readonly<{ runId: string; workflowId: string }>) => TraceSpan;
  /** CLIENT span of a batch of tickets: a short trace of its own with links to the runs it rings for. */
  publish: (batch: Readonly<{ pool: string; runs: readonly (Traceparent | null)[] }>) => TraceSpan;
  /** CONSUMER span of one claim, linked to the run's acceptance and, after a loss, to the attempt that was lost. */
  attempt: (claim: ClaimTrace) => TraceSpan;
  node: (attempt: TraceSpan, node: Readonly<{ runId: string; nodeId: string; typeId: string; attempt: number }>) => TraceSpan;
  /** CLIENT span of one launch, child of the current span. */
  effect: (effect: Readonly<{ key: string; effectClass: string; destination: string; launch: number }>) => TraceSpan;
  /** Ids of the current span, for log lines. */
  current: () => { trace_id: string; span_id: string } | undefined;
  /** Sends what is buffered, at most 2 s, and ends. Never rejects. */
  close: () => Promise<void>;
}>;
