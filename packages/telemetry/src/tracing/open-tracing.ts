import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Attributes, type Context, type Link, type Span } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider, RandomIdGenerator } from "@opentelemetry/sdk-trace-node";
import { attemptPlace, placeOf, type SpanPlace, type TraceRelation } from "./attempt-context.js";
import { traceNames as names } from "./trace-names.js";
import type { Traceparent, TraceSpan, Tracing } from "./tracing.js";

/** What is buffered at the end may take so long to leave. Milliseconds. */
const CLOSE_MS = 2_000;

/** Gives random ids, except that what `start` begins stands at `place`. Synchronous. */
function createPlacedIds() {
  const random = new RandomIdGenerator();
  let next: SpanPlace | undefined;
  return {
    generateTraceId: () => next?.traceId ?? random.generateTraceId(),
    generateSpanId: () => next?.spanId ?? random.generateSpanId(),
    at(place: SpanPlace, start: () => Span): Span {
      next = place;
      try {
        return start();
      } finally {
        next = undefined;
      }
    },
  };
}

/** Opens OpenTelemetry's SDK for this process and makes it the global one, so that users' instrumentation joins in. */
export function openTracing(about: { relation: TraceRelation; role: string; incarnation: string; version: string }): Tracing {
  const ids = createPlacedIds();
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      [names.serviceName]: `mainstay-${about.role}`, [names.serviceVersion]: about.version, [names.serviceInstanceId]: about.incarnation,
    }),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  const tracer = provider.getTracer("mainstay", about.version);
  const { relation } = about;

  const start = (name: string, { kind, attributes = {}, parent = ROOT_CONTEXT, links = [], place }: {
    kind: SpanKind; attributes?: Attributes; parent?: Context; links?: Link[]; place?: SpanPlace;
  }): TraceSpan => {
    const begin = () => tracer.startSpan(name, { kind, attributes, links }, parent);
    return toTraceSpan(place === undefined ? begin() : ids.at(place, begin), parent);
  };

  return Object.freeze({
    serve: ({ route, method, traceparent }) => start(`${method} ${route}`, {
      kind: SpanKind.SERVER, parent: remote(traceparent), attributes: { [names.httpRoute]: route, [names.httpMethod]: method },
    }),
    send: (parent, { runId, workflowId }) => start("send mainstay.dispatch", {
      kind: SpanKind.PRODUCER, parent: remote(parent?.traceparent),
      attributes: { ...messaging("send", "mainstay.dispatch"), [names.runId]: runId, [names.workflowId]: workflowId },
    }),
    publish: ({ pool, runs }) => start(`send ${pool}`, {
      kind: SpanKind.CLIENT, links: runs.flatMap((run) => link("run", placeOf(run))),
      attributes: { ...messaging("send", pool), [names.messagingBatch]: runs.length, [names.pool]: pool },
    }),
    attempt: (claim) => start(`process ${claim.pool}`, {
      kind: SpanKind.CONSUMER,
      parent: relation === "parent" ? remote(claim.traceparent) : ROOT_CONTEXT,
      place: attemptPlace(claim.claimId, { traceparent: claim.traceparent, relation }),
      links: [
        ...(relation === "link" ? link("run", placeOf(claim.traceparent)) : []),
        ...(claim.trigger === null || claim.lostClaimId === null ? []
          : link("lost_attempt", attemptPlace(claim.lostClaimId, { traceparent: claim.traceparent, relation }))),
      ],
      attributes: {
        ...messaging("process", claim.pool), [names.pool]: claim.pool, [names.runId]: claim.runId, [names.workflowId]: claim.workflowId,
        [names.fence]: claim.fence, ...(claim.trigger === null ? {} : { [names.trigger]: claim.trigger }),
      },
    }),
    node: (attempt, node) => start(`openwop.node.${node.typeId}`, {
      kind: SpanKind.INTERNAL, parent: remote(attempt.traceparent),
      attributes: { [names.runId]: node.runId, [names.nodeId]: node.nodeId, [names.nodeType]: node.typeId, [names.nodeAttempt]: node.attempt },
    }),
    effect: ({ key, effectClass, destination, launch }) => start(`effect ${destination}`, {
      kind: SpanKind.CLIENT, parent: context.active(),
      attributes: { [names.effectKey]: key, [names.effectClass]: effectClass, [names.peerName]: destination, [names.effectLaunch]: launch },
    }),
    current: () => {
      const span = trace.getActiveSpan()?.spanContext();
      return span === undefined ? undefined : { trace_id: span.traceId, span_id: span.spanId };
    },
    close: async () => {
      const ended = provider.shutdown().catch(() => undefined);
      await Promise.race([ended, new Promise<void>((resolve) => { setTimeout(resolve, CLOSE_MS).unref(); })]);
    },
  });
}

function toTraceSpan(span: Span, parent: Context): TraceSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const inside = trace.setSpan(parent, span);
  return Object.freeze({
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
    within: <T>(act: () => T): T => context.with(inside, act),
    end: ({ errorType, outcome, status }: Parameters<TraceSpan["end"]>[0] = {}) => {
      if (!span.isRecording()) return;
      if (outcome !== undefined) span.setAttribute(names.outcome, outcome);
      if (status !== undefined) span.setAttribute(names.httpStatus, status);
      if (errorType !== undefined) span.setAttribute(names.errorType, errorType).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  });
}

/** The context in which a span of elsewhere is the parent; the root for none. */
function remote(traceparent: Traceparent | null | undefined): Context {
  const place = placeOf(traceparent);
  if (place === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt((traceparent ?? "").slice(53, 55), 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { ...place, traceFlags, isRemote: true });
}

const link = (to: string, place: SpanPlace | undefined): Link[] =>
  (place === undefined ? [] : [{ context: { ...place, traceFlags: TraceFlags.SAMPLED }, attributes: { [names.linkTo]: to } }]);

const messaging = (operation: string, destination: string): Attributes => ({
  [names.messagingSystem]: "mainstay", [names.messagingOperation]: operation, [names.messagingDestination]: destination,
});
