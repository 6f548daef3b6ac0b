import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { brokenLaws } from "../bench/broken-laws.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { claims } from "./claims.js";
import type { Scenario } from "./scenario.js";

const scenarios: readonly Scenario[] = [...claims];

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());
afterEach(async () => {
  expect(await brokenLaws(bench)).toEqual([]);
  // each scenario begins with empty tables
  await bench.sql("truncate runs, run_nodes, run_events, outbox, idempotency_records, effects, incarnations, dead_letters, ops_events cascade");
});

test.each(scenarios)("$of paused before its lock: $holds", ({ show }) => show(bench));
