/** What the server answered instead of a success: its code, its status and the request's id for its operator. */
export class ClientError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly requestId: string | undefined;

  constructor(
    message: string,
    answer: Readonly<{
      code: string;
      status: number;
      details?: Readonly<Record<string, unknown>> | undefined;
      requestId?: string | undefined;
    }>,
  ) {
    super(message);
    this.name = "ClientError";
    this.code = answer.code;
    this.status = answer.status;
    this.details = answer.details;
    this.requestId = answer.requestId;
  }
}

/** No answer came, after every retry: the server was away or the connection was lost. Trying again later is safe. */
export class Unreachable extends Error {
  constructor(url: string, cause: unknown) {
    super(`no answer from ${url}; is the api running and the address right?`, { cause });
    this.name = "Unreachable";
  }
}

/** The awaited run had not ended in time. It goes on; only the waiting ended. */
export class WaitedTooLong extends Error {
  readonly runId: string;

  constructor(runId: string, timeoutMs: number) {
    super(`run ${runId} had not ended after ${String(timeoutMs)} ms; it goes on`);
    this.name = "WaitedTooLong";
    this.runId = runId;
  }
}
