const brand = Symbol.for("mainstay.sdk.WorkflowFailure");

/** What a failure may say beside its code. */
export type FailureDetail = Readonly<{
  /** Which part failed, such as `bank-client`; groups incidents. */
  component?: string;
  /** What it was doing, such as `charge`; groups incidents. */
  operation?: string;
  /** Flat facts for the operator. Redacted before they are stored, so no place for payloads. */
  attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Milliseconds the other side asked to be left alone; the next attempt is not before. */
  retryAfterMs?: number;
  cause?: unknown;
}>;

/**
 * A failure with a registered code: `platform.*` of the engine or `app.*` of the workflow. Class, message and
 * remediation come from the registration, never from here. Anything else that a node throws is
 * `platform.unclassified` and not retried, unless {@link toFailureCode} knows its machine code.
 */
export class WorkflowFailure extends Error {
  readonly code: string;
  readonly detail: FailureDetail;
  readonly [brand] = true;

  /** @throws TypeError when the code is not `platform.<snake_case>` or `app.<snake_case>`. */
  constructor(code: string, detail: FailureDetail = {}) {
    if (!/^(platform|app)\.[a-z][a-z0-9_]*$/.test(code)) {
      throw new TypeError(`a failure code is platform.<snake_case> or app.<snake_case>, seen "${code}"`);
    }
    super(code, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = "WorkflowFailure";
    this.code = code;
    this.detail = detail;
  }

  /** Recognises a failure made by any copy of this package in the process. */
  static is(thrown: unknown): thrown is WorkflowFailure {
    return typeof thrown === "object" && thrown !== null && brand in thrown;
  }
}
