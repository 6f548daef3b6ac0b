const brand = Symbol.for("mainstay.sdk.NotApplied");

/**
 * Thrown inside an effect when the other side definitely did not act: the effect settles as absent, which closes the
 * window, and the node fails with `code`. Never throw it after a time-out or a lost connection: that is no refusal.
 */
export class NotApplied extends Error {
  readonly code: string;
  readonly [brand] = true;

  /** @throws TypeError when the code is not `platform.<snake_case>` or `app.<snake_case>`. */
  constructor(code: string, options: Readonly<{ cause?: unknown }> = {}) {
    if (!/^(platform|app)\.[a-z][a-z0-9_]*$/.test(code)) {
      throw new TypeError(`a failure code is platform.<snake_case> or app.<snake_case>, seen "${code}"`);
    }
    super(code, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "NotApplied";
    this.code = code;
  }

  /** Recognises a refusal made by any copy of this package in the process. */
  static is(thrown: unknown): thrown is NotApplied {
    return typeof thrown === "object" && thrown !== null && brand in thrown;
  }
}
