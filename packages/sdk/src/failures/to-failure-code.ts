import { NotApplied } from "./not-applied.js";
import { WorkflowFailure } from "./workflow-failure.js";

/** Machine codes of Node and of its HTTP client, and the TRANSIENT code each stands for. */
const machineCodes: ReadonlyMap<string, string> = new Map([
  ["ETIMEDOUT", "platform.timeout"],
  ["ESOCKETTIMEDOUT", "platform.timeout"],
  ["UND_ERR_CONNECT_TIMEOUT", "platform.timeout"],
  ["UND_ERR_HEADERS_TIMEOUT", "platform.timeout"],
  ["UND_ERR_BODY_TIMEOUT", "platform.timeout"],
  ["ECONNRESET", "platform.dependency_unavailable"],
  ["ECONNREFUSED", "platform.dependency_unavailable"],
  ["ECONNABORTED", "platform.dependency_unavailable"],
  ["EPIPE", "platform.dependency_unavailable"],
  ["EAI_AGAIN", "platform.dependency_unavailable"],
  ["EHOSTUNREACH", "platform.dependency_unavailable"],
  ["EHOSTDOWN", "platform.dependency_unavailable"],
  ["ENETUNREACH", "platform.dependency_unavailable"],
  ["ENETDOWN", "platform.dependency_unavailable"],
  ["UND_ERR_SOCKET", "platform.dependency_unavailable"],
]);

/** HTTP statuses that pass by themselves. */
const statuses: ReadonlyMap<number, string> = new Map([
  [408, "platform.timeout"],
  [425, "platform.dependency_unavailable"],
  [429, "platform.rate_limited"],
  [502, "platform.dependency_unavailable"],
  [503, "platform.provider_overloaded"],
  [504, "platform.timeout"],
  [529, "platform.provider_overloaded"],
]);

/** What every other throw is: NON_RETRYABLE, counted, never retried. */
const unclassified = "platform.unclassified";

/** Causes are followed this deep and no deeper. */
const maxDepth = 8;

/**
 * The one table from what was thrown to a failure code. Coded failures keep their code; machine codes of Node and
 * statuses of HTTP answers (`status` or `statusCode` of the error or of its `response`) are TRANSIENT; everything else
 * is `platform.unclassified`. Error texts are never read.
 */
export function toFailureCode(thrown: unknown): string {
  let current: unknown = thrown;
  for (let depth = 0; depth < maxDepth && typeof current === "object" && current !== null; depth += 1) {
    if (WorkflowFailure.is(current) || NotApplied.is(current)) return current.code;
    const found = codeOf(current);
    if (found !== undefined) return found;
    current = (current as { cause?: unknown }).cause;
  }
  return unclassified;
}

function codeOf(thrown: object): string | undefined {
  const { code, name, status, statusCode, response } = thrown as Record<string, unknown>;
  if (typeof code === "string") {
    const known = machineCodes.get(code);
    if (known !== undefined) return known;
  }
  // AbortSignal.timeout() rejects with a DOMException of this name; its numeric code is 23.
  if (name === "TimeoutError" && thrown instanceof DOMException) return "platform.timeout";
  return statusCodeOf(status) ?? statusCodeOf(statusCode) ?? statusCodeOf((response as { status?: unknown } | undefined)?.status);
}

function statusCodeOf(status: unknown): string | undefined {
  return typeof status === "number" ? statuses.get(status) : undefined;
}
