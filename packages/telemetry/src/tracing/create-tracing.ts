import type { TraceRelation } from "./attempt-context.js";
import type { Tracing } from "./tracing.js";

/** Who traces, and how. */
export type TracingOptions = Readonly<{
  /** `otlp`: spans go to the collector that OpenTelemetry's own `OTEL_EXPORTER_OTLP_*` variables name. */
  mode: "off" | "otlp";
  relation: TraceRelation;
  role: string;
  incarnation: string;
  version: string;
}>;

/** The tracing of a process; `undefined`, with nothing of OpenTelemetry loaded, when it is off. */
export async function createTracing({ mode, ...about }: TracingOptions): Promise<Tracing | undefined> {
  if (mode === "off") return undefined;
  const { openTracing } = await import("./open-tracing.js");
  return openTracing(about);
}
