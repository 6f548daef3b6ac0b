import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { statements } from "../../src/index.js";
import { brokenLaws } from "../bench/broken-laws.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { acceptance } from "./acceptance.js";
import { claims } from "./claims.js";
import { effects } from "./effects.js";
import { forks } from "./forks.js";
import { holders } from "./holders.js";
import { incarnations } from "./incarnations.js";
import { releases } from "./releases.js";
import { lanes } from "./lanes.js";
import type { Scenario } from "./scenario.js";
import { pauses } from "./pauses.js";
import { stops } from "./stops.js";
import { unguarded } from "./unguarded.js";

const scenarios: readonly Scenario[] = [...acceptance, ...claims, ...holders, ...releases, ...stops, ...pauses, ...forks, ...effects, ...incarnations, ...lanes];

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());
afterEach(async () => {
  expect(await brokenLaws(bench)).toEqual([]);
  // each scenario begins with empty tables
  await bench.sql("truncate runs, run_nodes, run_events, outbox, idempotency_records, effects, incarnations, lanes, dead_letters, recorded_outcomes, ops_events cascade");
});

for (const { of, holds, show } of scenarios) test(`${of}, paused before its lock: ${holds}`, () => show(bench));

test("every statement that writes is shown under a pause, or says why it needs no guard", () => {
  const writing = [...statements.values()].filter(({ text }) => /\b(insert into|update \w+ |delete from)/.test(text.replace(/\/\*.*?\*\/ /, ""))).map(({ name }) => name);
  const shown = new Set([...scenarios.map(({ of }) => of), ...Object.keys(unguarded)]);
  expect(writing.filter((name) => !shown.has(name))).toEqual([]);
  expect([...shown].filter((name) => !writing.includes(name))).toEqual([]);
});
