import type { EffectClass } from "@mainstay/domain";

/** What a launch is handed. One launch makes one request: no redirect, no transport retry inside. */
export type EffectCall = Readonly<{
  /** The identity of the effect, stable over attempts and take-overs. */
  effectId: string;
  /** Send it as `Idempotency-Key`: the same on every launch of this effect. */
  idempotencyKey: string;
  /** Aborts at the effect's time-out, at cancel, at drain and when the lease is lost. Hand it to the request. */
  signal: AbortSignal;
  /** 1 for the first launch. */
  launch: number;
  /** W3C trace context of this launch, for a `traceparent` header; only with `propagateTrace`, and when the fleet traces. */
  traceparent?: string;
}>;

/** What a reconciler is handed. It only asks; it never acts. */
export type ReconcileCall = Readonly<{ effectId: string; idempotencyKey: string; signal: AbortSignal }>;

/**
 * A reconciler's answer. `happened: false` counts only after the quiet instant; `safe: false` says that something
 * partial was left, which an operator decides. `undefined` is no answer: asked again, never turned into a replay.
 */
export type ReconcileAnswer<Result> =
  | Readonly<{ happened: true; result: Result }>
  | Readonly<{ happened: false; safe?: boolean }>
  | undefined;

/** How one effect is declared. */
export type EffectOptions<Result = unknown> = Readonly<{
  /** Default `non_idempotent_write`: an unsettled launch is never sent again without evidence. */
  class?: EffectClass;
  /** The business operation. Two runs of one workspace, workflow and node with one business key share one effect. */
  businessKey?: string;
  /** The name of the other side, as the node's `requires.destinations` and policies know it. */
  destination: string;
  /** Milliseconds the one request of a launch may take; 1 to 3,600,000, default 30,000. */
  timeoutMs?: number;
  /** Milliseconds the other side remembers the key; default 24 h. Older launches count as non-idempotent. */
  keyRetentionMs?: number;
  /** Milliseconds the other side may still act after the request has ended; default 0. Delays an "absent". */
  providerMaxMs?: number;
  /** Whether the launch is handed the trace context, to send it to this destination; default false. Not part of the digest. */
  propagateTrace?: boolean;
  /** What the request digest covers; default the options and the node's input. Another digest never reuses an answer. */
  request?: unknown;
  /** Asks the other side whether the effect happened. */
  reconcile?: (call: ReconcileCall) => Promise<ReconcileAnswer<Result>>;
}>;

/**
 * Runs one action on the outside world at most once per identity, as far as its class allows. A key is used once per
 * node execution; an effect inside an effect is refused. A confirmed answer is recorded (as JSON) and given back on
 * every later execution without a request.
 */
export type Effect = <Result>(
  key: string,
  options: EffectOptions<Result>,
  launch: (call: EffectCall) => Result | Promise<Result>,
) => Promise<Result>;
