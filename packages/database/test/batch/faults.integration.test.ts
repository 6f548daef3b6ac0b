import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccept, createClaim, createLaunch, createProgress, createSettle, type ProgressWrite } from "../../src/index.js";
import { brokenLaws } from "../bench/broken-laws.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { beginWorker, claimant, completionOf, launchOf, newRun, sha256 } from "../bench/seed.js";
import { failsEveryFifth } from "../bench/with-faults.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

const ITEMS = 500;
const GIVE_UP_MS = 60_000;

/** Submits all items within 300 ms, so that they ride many flushes. */
const submit = <Item, Answer>(items: readonly Item[], send: (item: Item) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(items.map(async (item, i) => {
    await sleep((i * 300) / items.length); // spreads the load, waits for nothing
    return send(item);
  }));

async function heldRuns(count: number): Promise<{ runId: string; owner: string; fence: string }[]> {
  const owner = await beginWorker(bench.db);
  const runs = Array.from({ length: count }, () => newRun());
  const accept = createAccept(bench.db, { dispatchBoundMs: 0, giveUpMs: GIVE_UP_MS });
  await Promise.all(runs.map((run) => accept(run)));
  const claim = createClaim(bench.db, () => claimant(owner), { giveUpMs: GIVE_UP_MS, maxRows: 500 });
  await Promise.all(runs.map(({ id }) => claim({ runId: id, claimId: randomUUID() })));
  return runs.map(({ id }) => ({ runId: id, owner, fence: "1" }));
}

test("500 acceptances with every fifth flush failing are answered as they are stored", async () => {
  const db = failsEveryFifth(bench.db, 1);
  const accept = createAccept(db, { dispatchBoundMs: 0, giveUpMs: GIVE_UP_MS, maxRows: 16 });
  // a hundred keys, five requests each; every fifth request of a key has another body
  const runs = Array.from({ length: ITEMS }, (_, i) => newRun({
    idempotency: { operation: "runs.create", key: `k${i % 100}`, bodyDigest: sha256(i < 400 ? "body" : "other"), answer: { run: i } },
  }));
  const answers = await submit(runs, accept);
  const born = await bench.sql<{ id: string; key: string; same: boolean }>("select run_id as id, key, body_digest = decode($1, 'hex') as same from idempotency_records", [sha256("body")]);
  expect(db.faults()).toBeGreaterThan(3);
  expect(born).toHaveLength(100);
  expect(await bench.sql("select from runs")).toHaveLength(100);
  expect(await bench.sql("select from outbox")).toHaveLength(100);
  const winner = new Map(born.map((row) => [row.key, row]));
  answers.forEach((answer, i) => {
    const record = winner.get(`k${i % 100}`)!;
    const expected = record.id === runs[i]!.id ? "created" : record.same === i < 400 ? "replayed" : "key_mismatch";
    expect(answer.kind, `request ${i}`).toBe(expected);
  });
});

test("500 claims of 250 runs with every fifth flush failing give each run to one caller", async () => {
  const owner = await beginWorker(bench.db);
  const accept = createAccept(bench.db, { dispatchBoundMs: 0, giveUpMs: GIVE_UP_MS });
  const runs = Array.from({ length: ITEMS / 2 }, () => newRun());
  await Promise.all(runs.map((run) => accept(run)));
  const db = failsEveryFifth(bench.db, 2);
  const claim = createClaim(db, () => claimant(owner), { giveUpMs: GIVE_UP_MS, maxRows: 16 });
  const answers = await submit([...runs, ...runs], ({ id }) => claim({ runId: id, claimId: randomUUID() }));
  expect(db.faults()).toBeGreaterThan(3);
  const won = answers.filter(({ kind }) => kind !== "refused").map((answer) => (answer.kind === "claimed" ? answer.run.id : answer.kind === "claimed_before" ? answer.runId : ""));
  expect(new Set(won).size).toBe(won.length);
  expect(won.sort()).toEqual(runs.map(({ id }) => id).sort());
  expect(await bench.sql("select from runs where owner = $1 and claims = 1 and fence = 1", [owner])).toHaveLength(runs.length);
  expect(await brokenLaws(bench)).toEqual([]);
});

test("500 endings with every fifth flush failing are all answered done and stored once", async () => {
  const held = await heldRuns(ITEMS);
  const db = failsEveryFifth(bench.db, 3);
  const progress = createProgress<ProgressWrite>(db, { keyOf: ({ runId }) => runId, merge: ([only]) => only, giveUpMs: GIVE_UP_MS, maxRows: 16 });
  const answers = await submit(held.map(completionOf), progress);
  expect(db.faults()).toBeGreaterThan(3);
  expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(["done"]));
  expect(await bench.sql("select from runs where id = any($1) and status = 'completed' and checkpoint_no = 1", [held.map(({ runId }) => runId)])).toHaveLength(ITEMS);
  expect(await brokenLaws(bench)).toEqual([]);
});

test("500 launches of 100 runs, then their settlements, with every fifth flush failing leave a ledger that counts right", async () => {
  const held = await heldRuns(100);
  const rows = Array.from({ length: ITEMS }, (_, i) => launchOf(held[i % 100]!, { key: `effect-${i}` }));
  const launching = failsEveryFifth(bench.db, 4);
  const answers = await submit(rows, createLaunch(launching, { giveUpMs: GIVE_UP_MS }));
  expect(launching.faults()).toBeGreaterThan(0);
  expect(answers.map((answer) => (answer.kind === "launched" ? answer.effectId : answer.kind))).toEqual(rows.map(({ effectId }) => effectId));
  const ids = held.map(({ runId }) => runId);
  expect(await bench.sql("select distinct open_effects from runs where id = any($1)", [ids])).toEqual([{ open_effects: 5 }]);

  const settling = failsEveryFifth(bench.db, 5);
  const settle = createSettle(settling, { giveUpMs: GIVE_UP_MS });
  const settled = await submit(rows, ({ effectId, runId }) => settle({ effectId, runId, launchNo: 1, outcome: "confirmed", via: "answer", answer: {} }));
  expect(settled.every(({ kind }) => kind === "settled" || kind === "known")).toBe(true);
  expect(await bench.sql("select distinct open_effects from runs where id = any($1)", [ids])).toEqual([{ open_effects: 0 }]);
  expect(await bench.sql("select from effects where state = 'confirmed' and contradictions = 0 and evidence = '[]'")).toHaveLength(ITEMS);
  expect(await brokenLaws(bench)).toEqual([]);
});
