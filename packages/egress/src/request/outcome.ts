/** Headers of an answer, names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** No byte of the request left this process: whatever it asks for did not happen by it. */
export type NotSent = Readonly<{
  sent: false;
  reason: "resolve" | "connect" | "tls" | "egress_denied" | "aborted_before_send";
  /** One line for an operator; never a header, a body or a query. */
  detail: string;
  /** What `beforeFirstByte` threw. */
  cause?: unknown;
}>;

/** An answer came, whole. */
export type Answered = Readonly<{ sent: true; status: number; headers: AnswerHeaders; body: Uint8Array }>;

/** Bytes of the request may have left, and no whole answer came: it may have happened. */
export type Unanswered = Readonly<{
  sent: true;
  status: undefined;
  reason: "timeout" | "reset" | "aborted" | "too_large";
  detail: string;
}>;

/** Exactly one of these tells what became of a request. Nothing else is thrown. */
export type EgressOutcome = NotSent | Answered | Unanswered;
