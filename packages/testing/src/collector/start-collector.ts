import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as it arrived; attribute values as text. */
export type CollectedSpan = Readonly<{
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  /** Empty for the root of a trace. */
  parentSpanId: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  attributes: Readonly<Record<string, string>>;
  links: readonly Readonly<{ traceId: string; spanId: string; attributes: Readonly<Record<string, string>> }>[];
}>;

/** A collector of traces that stands for the outside world and keeps what arrived. */
export type Collector = Readonly<{
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  spans: () => readonly CollectedSpan[];
  stop: () => Promise<void>;
}>;

type Value = Readonly<Record<string, unknown>>;
type Attributes = readonly Readonly<{ key: string; value: Value }>[];
type Batch = Readonly<{
  resourceSpans: readonly Readonly<{
    resource: { attributes: Attributes };
    scopeSpans: readonly Readonly<{ spans: readonly (Omit<CollectedSpan, "service" | "attributes" | "links" | "parentSpanId"> & {
      parentSpanId?: string; attributes?: Attributes; links?: readonly { traceId: string; spanId: string; attributes?: Attributes }[];
    })[] }>[];
  }>[];
}>;

/** Takes spans by OTLP over HTTP, as JSON, on a free port of 127.0.0.1. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      if (request.url === "/v1/traces") spans.push(...read(JSON.parse(Buffer.concat(parts).toString("utf8")) as Batch));
      response.writeHead(request.url === "/v1/traces" ? 200 : 404, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => { server.close(() => { resolve(); }); });
    },
  };
}

function read({ resourceSpans }: Batch): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map((span) => ({
    service: textOf(resource.attributes)["service.name"] ?? "", name: span.name, traceId: span.traceId, spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? "", kind: span.kind, attributes: textOf(span.attributes),
    links: (span.links ?? []).map(({ traceId, spanId, attributes }) => ({ traceId, spanId, attributes: textOf(attributes) })),
  }))));
}

const textOf = (attributes: Attributes = []): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
