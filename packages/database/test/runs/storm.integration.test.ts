import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  auditHoldings, beginIncarnation, createLaunch, createProgress, createSettle, enforceDeadlines, enforceStops, handBackRuns, isTransient, lapseIncarnations, requestStop,
  suspectRuns, sweepRuns, takeOver, type ProgressWrite, type Queryable, type ReleaseLimits,
} from "../../src/index.js";
import { brokenLaws } from "../bench/broken-laws.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { REQUIRES, accept, beginWorker, claimant, completionOf, launchOf, parkingOf, writeOf } from "../bench/seed.js";
import { failsEveryFifth } from "../bench/with-faults.js";

const RUNS = 80;
const STORM_MS = 6_000;
const WORKERS = 4;
const limits: ReleaseLimits = { crashLimit: 3, lossLimit: 3, handBackLimit: 3, backoffBaseMs: 2, retentionDays: 30 };

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

type Held = { runId: string; owner: string; fence: string };

/** A chance that can be told again: seeded. */
function chanceOf(seed: number): { next: () => number; pick: <Item>(items: readonly Item[]) => Item | undefined } {
  let state = seed;
  const next = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  return { next, pick: (items) => items[Math.floor(next() * items.length)] };
}

/** Executions that a claim really handed out, by run and fence: handed out twice, code would run twice. */
const handedOut: string[] = [];

/** One worker that does everything a holder may do, in any order, over a database that fails at every fifth turn. */
async function work(seed: number, over: () => boolean): Promise<void> {
  const chance = chanceOf(seed);
  const db = failsEveryFifth(bench.another({ poolSize: 2 }), seed);
  const giveUpMs = 3_000;
  const progress = createProgress<ProgressWrite>(db, { keyOf: ({ runId, fence }) => `${runId}/${fence}`, merge: ([only]) => only, giveUpMs });
  const launch = createLaunch(db, { giveUpMs });
  const settle = createSettle(db, { giveUpMs });
  let me = await beginWorker(bench.db);
  const held = new Map<string, Held>();

  const act = async (one: Held): Promise<void> => {
    const turn = chance.next();
    if (turn < 0.1) { held.delete(one.runId); return; } // forgets it: the audit finds it
    if (turn < 0.3) {
      const row = launchOf(one, { class: chance.next() < 0.5 ? "idempotent_write" : "non_idempotent_write", keyRetentionMs: 60_000 });
      const answer = await launch(row);
      if (answer.kind === "fenced") held.delete(one.runId);
      else if (chance.next() < 0.7) await settle({ effectId: row.effectId, launchNo: 1, runId: one.runId, outcome: chance.next() < 0.5 ? "confirmed" : "absent", via: "answer", answer: {} });
      return;
    }
    if (turn < 0.4) {
      await handBackRuns(db, { owner: one.owner, limits, runs: [{ id: one.runId, fence: one.fence, kind: "hand_back" }] });
      held.delete(one.runId);
      return;
    }
    const moves = [writeOf(one, { checkpoint: true, events: [{ type: "node.retried", nodeId: "a", payload: {} }] }), parkingNow(one), completionOf(one)];
    const write = turn < 0.6 ? moves[0] : turn < 0.98 ? moves[1] : moves[2];
    if (write === undefined) return;
    const answer = await progress(write);
    if (answer.kind === "stopping") await progress(writeOf(one, { events: [{ type: "run.cancelled", payload: {} }], move: { kind: "cancel" } }));
    if (answer.kind !== "done" || write.move.kind !== "hold") held.delete(one.runId);
  };

  while (!over()) {
    try {
      const audit = await auditHoldings(db, { incarnation: me, requires: [REQUIRES], horizonMs: 0 });
      if (audit.lapsed) {
        held.clear();
        me = randomUUID();
        await beginIncarnation(bench.db, { id: me, role: "worker", pool: "default", host: "storm", version: "1", leaseMs: 3_000 });
      }
      const lost = audit.holdings.filter(({ id, fence, heldMs }) => heldMs > 50 && held.get(id)?.fence !== fence);
      if (lost.length > 0) await handBackRuns(db, { owner: me, limits, runs: lost.map(({ id, fence }) => ({ id, fence, kind: "mislaid" })) });
      const swept = await sweepRuns(db, claimant(me, held.size), Array.from({ length: 3 }, () => randomUUID()));
      for (const { id, fence } of swept) {
        handedOut.push(`${id}/${fence}`);
        held.set(id, { runId: id, owner: me, fence });
      }
      await Promise.all([...held.values()].map(act));
    } catch (error) {
      if (!isTransient(error)) throw error;
      // an ordered fault of a statement that is not repeated by itself: the next audit tells what is held
    }
    await sleep(chance.next() * 10); // the pace of the storm
  }
}

function parkingNow(one: Held): ProgressWrite {
  const write = parkingOf(one);
  return { ...write, nodes: [], move: { kind: "park", status: "running", waitingOn: "retry", dueMs: 5, inboxSeq: 0 } };
}

/** What the fleet and operators do to runs meanwhile. */
async function disturb(over: () => boolean): Promise<void> {
  const chance = chanceOf(99);
  const living = async () => (await bench.sql<{ id: string; beatNo: string }>(`select id, beat_no::text as "beatNo" from incarnations where lapsed_at is null`)).map((row) => row);
  while (!over()) {
    const turn = chance.next();
    const one = chance.pick(await living());
    if (turn < 0.25 && one !== undefined) {
      await bench.sql("update incarnations set beat_at = now() - interval '1 hour' where id = $1", [one.id]);
      await lapseIncarnations(bench.db, { seen: [one], heartbeatMs: 1_000 });
    } else if (turn < 0.4 && one !== undefined) await suspectRuns(bench.db, { incarnations: [one.id], limits });
    else if (turn < 0.5) {
      const run = chance.pick(await bench.sql<{ id: string }>("select id from runs where finished_at is null"));
      if (run !== undefined && chance.next() < 0.3) await requestStop(bench.db, { runId: run.id, workspace: "acme", by: "storm" });
    }
    await tidy(bench.db);
    expect(await brokenLaws(bench)).toEqual([]);
    await sleep(20); // the pace of the storm
  }
}

/** The lanes of the fleet, once. */
async function tidy(db: Queryable): Promise<void> {
  const dead = (await bench.sql<{ id: string }>("select id from incarnations where lapsed_at is not null")).map(({ id }) => id);
  await takeOver(db, { incarnations: dead, limits });
  await enforceStops(db, { graceMs: 100, limits });
  await enforceDeadlines(db, { limits });
}

test("in a storm of failing statements, deaths, suspicions, stops and forgotten runs the laws hold at every instant, and every run ends", async () => {
  for (let i = 0; i < RUNS; i++) await accept(bench.db, i % 10 === 0 ? { runTimeoutMs: 1_500 } : {});
  const began = performance.now();
  const over = () => performance.now() - began > STORM_MS;
  await Promise.all([disturb(over), ...Array.from({ length: WORKERS }, (_, i) => work(i + 1, over))]);
  expect(handedOut.length).toBeGreaterThan(RUNS);
  expect(new Set(handedOut).size).toBe(handedOut.length);

  await bench.sql("update incarnations set lapsed_at = coalesce(lapsed_at, now())");
  const calm = await beginWorker(bench.db);
  const progress = createProgress<ProgressWrite>(bench.db, { keyOf: ({ runId }) => runId, merge: ([only]) => only, giveUpMs: 3_000 });
  await until("every run to end", async () => {
    await tidy(bench.db);
    const swept = await sweepRuns(bench.db, claimant(calm), [randomUUID()]);
    await Promise.all(swept.map(({ id, fence }) => progress(completionOf({ runId: id, owner: calm, fence }))));
    return (await bench.sql("select from runs where finished_at is null")).length === 0;
  }, 30_000);
  expect(await brokenLaws(bench)).toEqual([]);
  const ends = await bench.sql<{ status: string; n: number }>("select status, count(*)::int as n from runs group by status");
  expect(ends.reduce((sum, { n }) => sum + n, 0)).toBe(RUNS);
});
