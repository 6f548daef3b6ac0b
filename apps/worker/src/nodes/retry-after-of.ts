import { WorkflowFailure } from "@mainstay/sdk";

/** Causes are followed this deep and no deeper. */
const MOST_CAUSES = 8;

/**
 * Milliseconds for which the other side asked to be left alone, 0 when it did not: a coded failure's `retryAfterMs`, or
 * the `Retry-After` header of an HTTP error or its `response`, wherever in the causes it stands: seconds, or a date, which
 * is counted from the answer's own `Date`.
 */
export function retryAfterOf(thrown: unknown): number {
  let current: unknown = thrown;
  for (let depth = 0; depth < MOST_CAUSES && typeof current === "object" && current !== null; depth++) {
    if (WorkflowFailure.is(current) && current.detail.retryAfterMs !== undefined) return atLeast0(current.detail.retryAfterMs);
    const { headers, response, cause }: { headers?: unknown; response?: unknown; cause?: unknown } = current;
    const asked = readHeaders(headers) ?? readHeaders((response as { headers?: unknown } | null | undefined)?.headers);
    if (asked !== undefined) return asked;
    current = cause;
  }
  return 0;
}

const atLeast0 = (ms: number): number => (Number.isFinite(ms) ? Math.max(0, ms) : 0);

function readHeaders(headers: unknown): number | undefined {
  const asked = headerOf(headers, "retry-after");
  if (typeof asked === "number") return atLeast0(asked * 1_000);
  if (typeof asked !== "string") return undefined;
  if (/^\s*\d+\s*$/.test(asked)) return Number(asked) * 1_000;
  const instant = Date.parse(asked);
  // a date is by the other side's clock, which its answer tells; this machine's may be an hour off
  const said = Date.parse(String(headerOf(headers, "date")));
  return Number.isNaN(instant) ? undefined : atLeast0(instant - (Number.isNaN(said) ? Date.now() : said));
}

function headerOf(headers: unknown, wanted: string): unknown {
  if (typeof headers !== "object" || headers === null) return undefined;
  if (headers instanceof Headers) return headers.get(wanted) ?? undefined;
  return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1] as unknown;
}
