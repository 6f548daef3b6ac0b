import { metricGroups } from "./catalogue.js";
import type { Metric } from "./metric.js";

function row(metric: Metric): string {
  const labels = metric.labels.length > 0 ? metric.labels.map((label) => `\`${label}\``).join(", ") : "–";
  const help = metric.type === "histogram" ? `${metric.help} Buckets: ${metric.buckets.join(", ")}.` : metric.help;
  return `| \`${metric.name}\` | ${metric.type} | ${labels} | ${metric.from.length === 4 ? "all" : metric.from.join(", ")} | ${help.replaceAll("|", "\\|")} |`;
}

/** The text of `docs/reference/metrics.md`, printed from the catalogue that the processes register. */
export function metricsReference(): string {
  const tables = metricGroups.map(({ title, metrics }) => [
    `## ${title}`, "", "| name | type | labels | from | what |", "|---|---|---|---|---|", ...Object.values<Metric>(metrics).map(row), "",
  ].join("\n"));
  return [
    "# Metrics",
    "",
    "Printed from `packages/telemetry`; do not edit. Every process serves them at `/metrics`, with Node’s own (`nodejs_*`, `process_*`) beside them.",
    "Label values come from closed sets. `workflow` names the first five workflows of a process, the rest is `other`.",
    "Instants are Unix seconds, so that `time() - x` also shows a stuck exporter. Facts about the whole fleet come from every supervisor alike: take `max`.",
    "",
    ...tables,
  ].join("\n");
}
