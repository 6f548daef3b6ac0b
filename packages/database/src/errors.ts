/** The client gave up waiting for an answer; the connection was destroyed and the outcome is not known. */
export class StatementTimeout extends Error {
  override readonly name = "StatementTimeout";
  constructor(statementName: string, timeoutMs: number) {
    super(`${statementName} gave no answer within ${timeoutMs} ms; its connection was destroyed`);
  }
}

/** Serialization failure, deadlock, lock not available, statement cancelled by a time-out of the server. */
const contention = new Set(["40001", "40P01", "55P03", "57014"]);
/** Connection exceptions, shutdown, starting up, read-only during a fail-over, too many connections, cached plan changed. */
const away = /^(08|57P0|25006|53300|0A000)/;
const socketCodes = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"]);
const lostWords = /Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout|not queryable/;

/** The SQLSTATE or socket code of an error, if it bears one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** True when the same statement may simply be sent again: contention, or the server could not be reached. */
export function isTransient(error: unknown): boolean {
  return contention.has(codeOf(error) ?? "") || isAway(error);
}

/** True when the server could not be reached or is not yet ready; whether the statement took effect is not known. */
export function isAway(error: unknown): boolean {
  if (error instanceof StatementTimeout) return true;
  if (refusesSettings(error)) return false;
  const code = codeOf(error);
  if (code !== undefined && (away.test(code) || socketCodes.has(code))) return true;
  return error instanceof Error && lostWords.test(error.message);
}

/** True when the statement was cut for the time it took: fewer rows may fit. */
export function tookTooLong(error: unknown): boolean {
  return error instanceof StatementTimeout || codeOf(error) === "57014";
}

/** True when a pooler does not pass on the settings of a session: it will never do so, however often it is asked. */
export function refusesSettings(error: unknown): boolean {
  return error instanceof Error && error.message.includes("unsupported startup parameter");
}

/** The name of the violated constraint, if that is what the error says. */
export function violatedConstraint(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("constraint" in error)) return undefined;
  return typeof error.constraint === "string" ? error.constraint : undefined;
}
