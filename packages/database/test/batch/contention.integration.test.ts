import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccept, createLaunch, createProgress, type ProgressWrite } from "../../src/index.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { beginWorker, hold, launchOf, newRun, sha256, writeOf } from "../bench/seed.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

const LOCKED_MS = 3_000;
const ROUND_MS = 10;

type Held = { runId: string; owner: string; fence: string };

const percentile = (values: readonly number[], part: number): number => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0;

test("a row that another session keeps locked for seconds delays no neighbour, and is answered when it is free", async () => {
  const owner = await beginWorker(bench.db);
  const held: Held[] = [];
  for (let i = 0; i < 20; i++) held.push(await hold(bench.db, owner));
  const [locked, ...neighbours] = held as [Held, ...Held[]];
  const progress = createProgress<ProgressWrite>(bench.db, { keyOf: ({ runId }) => runId, merge: ([only]) => only, giveUpMs: 30_000 });
  const rounds = async (forMs: number): Promise<number[]> => {
    const took: number[] = [];
    for (const began = performance.now(); performance.now() - began < forMs;) {
      await Promise.all(neighbours.map(async (one) => {
        const sent = performance.now();
        expect(await progress(writeOf(one))).toMatchObject({ kind: "done" });
        took.push(performance.now() - sent);
      }));
      await sleep(ROUND_MS); // the pace of the load
    }
    return took;
  };

  await rounds(300); // connections and plans are warm
  const free = await rounds(LOCKED_MS / 2);
  const session = await bench.session();
  await session.query("begin");
  await session.query("select from runs where id = $1 for update", [locked.runId]);
  const sent = performance.now();
  const blocked = progress(writeOf(locked)).then((answer) => ({ answer, tookMs: performance.now() - sent }));
  const beside = await rounds(LOCKED_MS);
  await session.query("commit");

  const { answer, tookMs } = await blocked;
  expect(answer).toMatchObject({ kind: "done" });
  expect(tookMs).toBeGreaterThan(LOCKED_MS - 100);
  expect(tookMs).toBeLessThan(LOCKED_MS + 3_000);
  // waiting for the row would have cost a neighbour the whole time of the lock
  expect(Math.max(...beside)).toBeLessThan(LOCKED_MS / 3);
  expect(percentile(beside, 0.5)).toBeLessThan(3 * percentile(free, 0.5) + 20);
  expect(percentile(beside, 0.99)).toBeLessThan(5 * percentile(free, 0.99) + 100);
});

test("two processes that accept the same keys in opposite orders never deadlock", async () => {
  const [one, two] = [bench.another(), bench.another()].map((db) => createAccept(db, { dispatchBoundMs: 0, giveUpMs: 30_000 }));
  for (let round = 0; round < 10; round++) {
    const keys = Array.from({ length: 100 }, (_, i) => `${round}/${i}`);
    const run = (key: string) => newRun({ idempotency: { operation: "runs.create", key, bodyDigest: sha256(key), answer: {} } });
    const answers = await Promise.all([...keys.map((key) => one!(run(key))), ...keys.toReversed().map((key) => two!(run(key)))]);
    expect(answers.filter(({ kind }) => kind === "created")).toHaveLength(100);
    expect(answers.filter(({ kind }) => kind === "replayed")).toHaveLength(100);
  }
  expect(await deadlocks()).toBe(0);
});

test("two workers that launch the same business identities in opposite orders never deadlock, and each is launched once", async () => {
  const [one, two] = [bench.another(), bench.another()].map((db) => createLaunch(db, { giveUpMs: 30_000 }));
  const mine: Held[] = [];
  const theirs: Held[] = [];
  const [owner, other] = [await beginWorker(bench.db), await beginWorker(bench.db)];
  for (let i = 0; i < 40; i++) {
    mine.push(await hold(bench.db, owner));
    theirs.push(await hold(bench.db, other));
  }
  const identities = mine.map((_, i) => sha256(`business/${i}`));
  const answers = await Promise.all([
    ...mine.map((held, i) => one!(launchOf(held, { identity: identities[i]! }))),
    ...theirs.toReversed().map((held, i) => two!(launchOf(held, { identity: identities.toReversed()[i]! }))),
  ]);
  expect(answers.filter(({ kind }) => kind === "launched")).toHaveLength(40);
  expect(answers.filter(({ kind }) => kind === "recorded")).toHaveLength(40);
  expect(await deadlocks()).toBe(0);
});

async function deadlocks(): Promise<number> {
  await bench.sql("select pg_stat_force_next_flush()");
  const [row] = await bench.sql<{ n: number }>("select deadlocks::int as n from pg_stat_database where datname = current_database()");
  return row?.n ?? -1;
}
