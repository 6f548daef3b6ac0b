import { WorkflowFailure } from "@mainstay/sdk";

/** Causes are followed this deep and no deeper. */
const MOST_CAUSES = 8;

/**
 * Milliseconds for which the other side asked to be left alone, 0 when it did not: a coded failure's `retryAfterMs`, or
 * the `Retry-After` header (seconds or a date) of an HTTP error or its `response`, wherever in the causes it stands.
 */
export function retryAfterOf(thrown: unknown): number {
  let current: unknown = thrown;
  for (let depth = 0; depth < MOST_CAUSES && typeof current === "object" && current !== null; depth++) {
    if (WorkflowFailure.is(current) && current.detail.retryAfterMs !== undefined) return atLeast0(current.detail.retryAfterMs);
    const { headers, response, cause }: { headers?: unknown; response?: unknown; cause?: unknown } = current;
    const asked = parse(headerOf(headers) ?? headerOf((response as { headers?: unknown } | null | undefined)?.headers));
    if (asked !== undefined) return asked;
    current = cause;
  }
  return 0;
}

const atLeast0 = (ms: number): number => (Number.isFinite(ms) ? Math.max(0, ms) : 0);

function headerOf(headers: unknown): unknown {
  if (typeof headers !== "object" || headers === null) return undefined;
  if (headers instanceof Headers) return headers.get("retry-after") ?? undefined;
  return Object.entries(headers).find(([name]) => name.toLowerCase() === "retry-after")?.[1] as unknown;
}

function parse(value: unknown): number | undefined {
  if (typeof value === "number") return atLeast0(value * 1_000);
  if (typeof value !== "string") return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1_000;
  const instant = Date.parse(value);
  return Number.isNaN(instant) ? undefined : atLeast0(instant - Date.now());
}
