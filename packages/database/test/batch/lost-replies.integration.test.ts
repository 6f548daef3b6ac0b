import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccept, createClaim } from "../../src/index.js";
import { brokenLaws } from "../bench/broken-laws.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { accept, beginWorker, claimant, completionOf, hold, launch, launchOf, newRun, parkingOf, progress, settle, sha256, writeOf } from "../bench/seed.js";
import { losesFirstReply } from "../bench/with-faults.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

const tables = ["runs", "run_nodes", "run_events", "outbox", "idempotency_records", "effects", "dead_letters", "ops_events"];

/** Everything that is stored, as text. */
const stored = async (): Promise<string[]> =>
  Promise.all(tables.map(async (table) => (await bench.sql<{ whole: string | null }>(`select string_agg(t::text, e'\\n' order by t::text) as whole from ${table} t`))[0]?.whole ?? ""));

/** Runs a flush whose reply is lost, and what was stored when it was lost; the repeat must not have changed it. */
async function repeated<Answer>(name: string, act: (db: ReturnType<typeof losesFirstReply>) => Promise<Answer>): Promise<Answer> {
  let atLoss: string[] = [];
  const db = losesFirstReply({
    query: async (statement, values) => {
      const rows = await bench.db.query(statement, values);
      if (statement.name === name && atLoss.length === 0) atLoss = await stored();
      return rows;
    },
  }, name);
  const answer = await act(db);
  expect(db.lost()).toBe(1);
  expect(await stored()).toEqual(atLoss);
  expect(await brokenLaws(bench)).toEqual([]);
  return answer;
}

test("an acceptance whose reply was lost is answered created, and one run with one ticket is born", async () => {
  const run = newRun({ idempotency: { operation: "runs.create", key: "lost", bodyDigest: sha256("body"), answer: { runId: "x" } } });
  expect(await repeated("runs.accept", (db) => createAccept(db, { dispatchBoundMs: 0, giveUpMs: 5_000 })(run))).toEqual({ kind: "created" });
  expect(await bench.sql("select from outbox where run_id = $1", [run.id])).toHaveLength(1);
});

test("a claim whose reply was lost is answered as claimed before, under the fence it took", async () => {
  const owner = await beginWorker(bench.db);
  const runId = await accept(bench.db);
  const answer = await repeated("runs.claim", (db) => createClaim(db, () => claimant(owner), { giveUpMs: 5_000 })({ runId, claimId: randomUUID() }));
  expect(answer).toEqual({ kind: "claimed_before", runId, fence: "1" });
});

test("an ending whose reply was lost is answered done and stands once in the log", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  expect(await repeated("runs.progress", (db) => progress(db, completionOf(held)))).toMatchObject({ kind: "done" });
});

test("a checkpoint whose reply was lost is answered done and counted once", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  const write = writeOf(held, { checkpoint: true, events: [{ type: "node.completed", nodeId: "a", payload: { nodeId: "a" } }] });
  expect(await repeated("runs.progress", (db) => progress(db, write))).toMatchObject({ kind: "done" });
  expect(await bench.sql("select checkpoint_no, event_seq from runs where id = $1", [held.runId])).toEqual([{ checkpoint_no: 1, event_seq: 4 }]);
});

test("a parking whose reply was lost is answered done and announces once", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  expect(await repeated("runs.progress", (db) => progress(db, parkingOf(held)))).toMatchObject({ kind: "done" });
});

test("a burial whose reply was lost leaves one dead letter", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  const burial = { ...completionOf(held), move: { kind: "fail" as const, error: { code: "x" } }, deadLetters: [{
    scope: "run" as const, failure: {}, class: "DEFECT", code: "platform.handler_exception", disposition: "handler_error", fingerprint: "f", reason: "r", attempts: 1,
    lastAttempt: {}, state: "OPERATOR_DECISION_REQUIRED", nextAction: "decide", retentionDays: 30,
  }], events: [{ type: "run.dead-lettered", payload: {} }, { type: "run.failed", payload: {} }] };
  expect(await repeated("runs.progress", (db) => progress(db, burial))).toMatchObject({ kind: "done" });
  expect(await bench.sql("select from dead_letters where run_id = $1", [held.runId])).toHaveLength(1);
});

test("a launch whose reply was lost is answered launched, and says that nothing of it may be sent any more", async () => {
  const row = launchOf(await hold(bench.db, await beginWorker(bench.db)));
  const answer = await repeated("effects.launch", (db) => launch(db, row));
  expect(answer).toEqual({ kind: "launched", effectId: row.effectId, launchNo: 1, sentAt: Number.NEGATIVE_INFINITY, sentAtWall: Number.NEGATIVE_INFINITY });
});

test("a settlement whose reply was lost is answered known and lowers the open effects once", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  const row = launchOf(held);
  await launch(bench.db, row);
  const answer = await repeated("effects.settle", (db) => settle(db, { effectId: row.effectId, launchNo: 1, runId: held.runId, outcome: "confirmed", via: "answer", answer: { ok: 1 } }));
  expect(answer).toEqual({ kind: "known" });
});
