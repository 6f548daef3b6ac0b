/** One request that reached the receiver, in the order of arrival. */
export type Arrival = Readonly<{
  /** Monotonic milliseconds of this process. */
  at: number;
  method: string;
  path: string;
  /** Its `Idempotency-Key`; empty when it had none. */
  key: string;
  /** Its `traceparent`; empty when it had none. */
  traceparent: string;
  body: string;
  /** SHA-256 of the body, hex. */
  digest: string;
  /** Whether the receiver did what was asked: the first arrival of a key it remembers, unless its plan refuses; a GET asks for nothing. */
  accepted: boolean;
  /** The status it was answered with, or what became of it instead; absent while it is open. */
  readonly outcome?: number | "reset" | "gone";
}>;

/** What the receiver does with one arrival. */
export type Plan = Readonly<{
  /** Default 200. A status from 300 on means that nothing was done. */
  status?: number;
  /** Milliseconds until the answer; default 0. */
  holdMs?: number;
  /** Answers when this settles, besides `holdMs`. */
  until?: Promise<unknown>;
  /** `reset` does what was asked, then breaks the connection; `hang` does it and never answers. Default `answer`. */
  then?: "answer" | "reset" | "hang";
  body?: unknown;
  /** Says `Retry-After` as a date so many milliseconds ahead, in whole seconds as HTTP has them. */
  retryInMs?: number;
}>;
