import type { Traceparent } from "./tracing.js";

/** A span's place: 32 and 16 hex digits. */
export type SpanPlace = Readonly<{ traceId: string; spanId: string }>;

/** How an attempt belongs to the run's acceptance: a trace of its own with a link, or a child in the same trace. */
export type TraceRelation = "link" | "parent";

const grammar = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;

/** The place a header names; `undefined` for anything else than a valid one. */
export function placeOf(traceparent: Traceparent | null | undefined): SpanPlace | undefined {
  const [, traceId, spanId] = grammar.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId };
}

/**
 * Where the span of a claim stands, from the claim's identity alone (a version 4 UUID: its variant bits are never all
 * zero). A peer that takes the run over reads the claim of the lost holder on the run row, so it can link to an attempt
 * whose process died before it exported anything, and no column has to be written for it.
 */
export function attemptPlace(claimId: string, { traceparent, relation }: { traceparent: Traceparent | null; relation: TraceRelation }): SpanPlace {
  const digits = claimId.replaceAll("-", "").toLowerCase();
  const own = { traceId: digits, spanId: digits.slice(16) };
  const stored = relation === "parent" ? placeOf(traceparent) : undefined;
  return stored === undefined ? own : { ...own, traceId: stored.traceId };
}
