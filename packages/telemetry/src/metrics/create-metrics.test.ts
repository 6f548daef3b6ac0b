import { expect, test } from "vitest";
import { catalogue } from "./catalogue.js";
import { createMetrics } from "./create-metrics.js";
import type { Metric, MetricRole } from "./metric.js";

const roles: readonly MetricRole[] = ["api", "relay", "worker", "supervisor"];
const entries: Metric[] = Object.values(catalogue);
const series = (text: string): string[] => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

test("names carry the prefix and a base unit, counters end in _total and nothing else does", () => {
  for (const { name, type, help } of entries) {
    expect(name).toMatch(/^mainstay_[a-z][a-z0-9_]*[a-z0-9]$/);
    expect(name.endsWith("_total"), name).toBe(type === "counter");
    if (type === "histogram") expect(name).toMatch(/_(seconds|size)$/);
    expect(help).toMatch(/\S\.$/);
  }
  expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
});

test("labels are of the allowed ones, and buckets rise", () => {
  const allowed = new Set([
    "pool", "workflow", "status", "class", "disposition", "reason", "lane", "route", "role", "op",
    "trigger", "topic", "result", "state", "dead_lettered", "method", "code_class", "version", "commit", "schema_version",
  ]);
  for (const metric of entries) {
    for (const label of metric.labels) expect(allowed, metric.name).toContain(label);
    if (metric.type === "histogram") expect([...metric.buckets].sort((a, b) => a - b)).toEqual(metric.buckets);
  }
});

test.each(roles)("the %s shows exactly the metrics that come from it, and Node's own", async (role) => {
  const text = await createMetrics({ role }).text();
  for (const { name, from } of entries) expect(text.includes(`# TYPE ${name} `), name).toBe(from.includes(role));
  expect(text).toContain("nodejs_heap_size_used_bytes");
});

test("a metric of another role may be used and is not shown", async () => {
  const metrics = createMetrics({ role: "relay" });
  metrics.claims.inc({ pool: "default", result: "won", reason: "none" });
  expect(await metrics.text()).not.toContain("mainstay_claims_total");
});

test("known label sets are 0 from the start", async () => {
  const lines = series(await createMetrics({ role: "worker" }).text());
  expect(lines).toContain('mainstay_takeovers_total{trigger="session_lost"} 0');
  expect(lines).toContain('mainstay_fence_rejected_total{op="checkpoint"} 0');
  expect(lines).toContain('mainstay_recovery_interval_seconds_count{class="severed",trigger="session_lost"} 0');
});

test("gauges are refreshed right before a scrape, and one that fails leaves the others", async () => {
  const metrics = createMetrics({ role: "worker" });
  metrics.beforeScrape(() => { throw new Error("the database is away"); });
  metrics.beforeScrape(async () => {
    await Promise.resolve();
    metrics.slots.set({ pool: "default" }, 50);
  });
  expect(series(await metrics.text())).toContain('mainstay_worker_slots{pool="default"} 50');
});

test("a worker with many workflows shows fewer than 1,000 series", async () => {
  const metrics = createMetrics({ role: "worker" });
  for (let at = 0; at < 200; at += 1) {
    const workflow = metrics.workflowLabel(`workflow-${at}`);
    metrics.attempts.inc({ workflow });
    metrics.runQueueWait.observe({ workflow, status: "running" }, 0.1);
    for (const status of ["completed", "failed", "cancelled"]) {
      metrics.runsFinished.inc({ workflow, status, dead_lettered: status === "failed" ? "true" : "false" });
      metrics.runDuration.observe({ workflow, status }, 1);
      metrics.attemptDuration.observe({ workflow, status }, 1);
    }
  }
  for (let op = 0; op < 15; op += 1) metrics.dbStatementDuration.observe({ op: `noun.verb_${op}` }, 0.001);
  expect(series(await metrics.text()).length).toBeLessThan(1_000);
});
