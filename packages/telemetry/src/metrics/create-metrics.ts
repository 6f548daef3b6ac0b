import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { boundLabel } from "./bound-label.js";
import { catalogue } from "./catalogue.js";
import type { Metric, MetricRole } from "./metric.js";

type InstrumentOf<D> =
  D extends { type: "counter"; labels: readonly (infer L extends string)[] } ? Counter<L>
    : D extends { type: "gauge"; labels: readonly (infer L extends string)[] } ? Gauge<L>
      : D extends { type: "histogram"; labels: readonly (infer L extends string)[] } ? Histogram<L>
        : never;

/** The instruments of the catalogue. Those that this role does not report may be used and are not shown. */
export type Instruments = { readonly [K in keyof typeof catalogue]: InstrumentOf<(typeof catalogue)[K]> };

/** A process's metrics. */
export type Metrics = Instruments & Readonly<{
  /** The scrape's body. Runs what `beforeScrape` was given first; one that throws leaves its gauges as they were. */
  text(): Promise<string>;
  contentType: string;
  /** Sets gauges from what is true now, right before each scrape. */
  beforeScrape(refresh: () => Promise<void> | void): void;
  /** A workflow's id as a label value: the first five of a process by name, the rest as `other`. */
  workflowLabel(workflowId: string): string;
}>;

function instrument(metric: Metric, registers: Registry[]): Counter | Gauge | Histogram {
  const { name, help, labels, known = [] } = metric;
  const options = { name, help, labelNames: labels, registers };
  if (metric.type === "histogram") {
    const made = new Histogram({ ...options, buckets: [...metric.buckets] });
    for (const values of known) made.zero(values);
    return made;
  }
  if (metric.type === "gauge") {
    const made = new Gauge(options);
    for (const values of known) made.set(values, 0);
    return made;
  }
  const made = new Counter(options);
  for (const values of known) made.inc(values, 0);
  return made;
}

/**
 * The metrics of one process: the catalogue's, Node's own, and the lag of the
 * event loop. Label values must come from closed sets: never a run id, a
 * workspace, an incarnation or the text of an error.
 */
export function createMetrics({ role }: { role: MetricRole }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const entries: [string, Metric][] = Object.entries(catalogue);
  const instruments = Object.fromEntries(
    entries.map(([key, metric]) => [key, instrument(metric, metric.from.includes(role) ? [registry] : [])]),
  ) as unknown as Instruments;

  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const refreshes: (() => Promise<void> | void)[] = [() => {
    const lag = delay.percentile(99) / 1e9;
    instruments.eventLoopLag.set(Number.isFinite(lag) ? lag : 0);
    delay.reset();
  }];
  return Object.freeze({
    ...instruments,
    contentType: registry.contentType,
    beforeScrape: (refresh: () => Promise<void> | void) => { refreshes.push(refresh); },
    workflowLabel: boundLabel(5),
    text: async () => {
      await Promise.allSettled(refreshes.map(async (refresh) => { await refresh(); }));
      return registry.metrics();
    },
  });
}
