import type { ErrorCode } from "@mainstay/contract";

/** What a refusal says beside its code. `details` never carries timing: that is in `retryAfterS` alone. */
export type RefusalDetail = Readonly<{
  details?: Readonly<Record<string, unknown>>;
  /** Seconds, sent as `Retry-After`. */
  retryAfterS?: number;
  /** The methods of a path, sent as `Allow`. */
  allow?: string;
}>;

/** A request is refused with a registered code. Thrown by routes and hooks, turned into an answer by `answerError`. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly detail: RefusalDetail;

  constructor(code: ErrorCode, message: string, detail: RefusalDetail = {}) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.detail = detail;
  }
}
