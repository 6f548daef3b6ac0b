import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClaim, enforceDeadlines, enforceStops, requestStop, sweepRuns } from "../../src/index.js";
import { brokenLaws } from "../bench/broken-laws.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { REQUIRES, accept, beginWorker, claim, claimant, completionOf, hold, launch, launchOf, limits, parkingOf, progress, rowOf, settle, typesOf, writeOf } from "../bench/seed.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());
beforeEach(async ({ onTestFinished }) => {
  await bench.sql("truncate runs, run_nodes, run_events, outbox, effects, incarnations, dead_letters, ops_events cascade");
  onTestFinished(async () => { expect(await brokenLaws(bench)).toEqual([]); });
});

const stop = (runId: string, workspace = "acme") => requestStop(bench.db, { runId, workspace, by: "operator", reason: "enough" });

test("a claim writes owner, fence, attempt and node.started before any code can run", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  expect(held.run).toMatchObject({ fence: "1", claims: 1, nodes: [{ node: "a", attempt: 1, continued: false }] });
  expect(await typesOf(bench, held.runId)).toEqual(["lease.acquired", "run.started", "node.started"]);
  expect(await bench.sql("select status, attempts, fence from run_nodes")).toEqual([{ status: "started", attempts: 1, fence: "1" }]);
});

test("a claim is refused for what is unknown, not due, not served by this worker, or held", async () => {
  const owner = await beginWorker(bench.db);
  const ask = async (runId: string, requires = [REQUIRES]) =>
    (await createClaim(bench.db, () => ({ ...claimant(owner), requires }), { giveUpMs: 5_000 })({ runId, claimId: randomUUID() }));
  const runId = await accept(bench.db);
  expect(await ask(randomUUID())).toEqual({ kind: "refused", reason: "not_found" });
  expect(await ask(runId, ["other/key"])).toEqual({ kind: "refused", reason: "not_capable" });
  expect(await sweepRuns(bench.db, { ...claimant(owner), requires: ["other/key"] }, [randomUUID()])).toEqual([]);
  await bench.sql("update runs set due_at = now() + interval '1 minute'");
  expect(await ask(runId)).toEqual({ kind: "refused", reason: "not_due" });
  await bench.sql("update runs set due_at = now()");
  expect(await ask(runId)).toMatchObject({ kind: "claimed" });
  expect(await ask(runId)).toEqual({ kind: "refused", reason: "held" });
});

test("two tickets that name one run in the same flush yield one claim", async () => {
  const owner = await beginWorker(bench.db);
  const ask = createClaim(bench.db, () => claimant(owner), { giveUpMs: 5_000 });
  // with a node to begin, and with all of its nodes waiting still
  for (const nextNodes of [[{ id: "a", typeId: "core.noop" }], []]) {
    const runId = await accept(bench.db, { nextNodes });
    const answers = await Promise.all([ask({ runId, claimId: randomUUID() }), ask({ runId, claimId: randomUUID() })]);
    expect(answers.map(({ kind }) => kind).sort()).toEqual(["claimed", "refused"]);
  }
});

test("a run that ends while it waits takes the ticket of its timer along, and nobody else's", async () => {
  const owner = await beginWorker(bench.db);
  const parked = [];
  for (let i = 0; i < 3; i++) {
    const held = await hold(bench.db, owner);
    await bench.sql("delete from outbox where run_id = $1", [held.runId]); // its first ticket has rung
    await progress(bench.db, parkingOf(held));
    parked.push(held.runId);
  }
  await bench.sql("update runs set due_at = (select max(due_at) from runs)");
  await bench.sql("update outbox set due_at = (select max(due_at) from runs)"); // one instant for all: the run tells them apart
  const [cancelled, late, waits] = parked as [string, string, string];
  expect(await stop(cancelled)).toMatchObject({ kind: "ended" });
  expect(await bench.sql("select run_id from outbox order by run_id")).toEqual([late, waits].sort().map((run_id) => ({ run_id })));
  await bench.sql("update runs set deadline_at = now() where id = $1", [late]);
  expect(await enforceDeadlines(bench.db, { limits })).toMatchObject([{ id: late, status: "failed" }]);
  expect(await bench.sql("select run_id from outbox")).toEqual([{ run_id: waits }]);
});

test("nothing is appended after the terminal event, whatever arrives", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  const row = launchOf(held);
  await launch(bench.db, row);
  await progress(bench.db, completionOf(held));
  const log = await typesOf(bench, held.runId);
  expect(await progress(bench.db, completionOf(held))).toEqual({ kind: "fenced" });
  expect(await progress(bench.db, parkingOf(held))).toEqual({ kind: "fenced" });
  expect(await stop(held.runId)).toEqual({ kind: "terminal" });
  await expect(claim(bench.db, held.owner, held.runId)).rejects.toThrow("ended");
  expect(await settle(bench.db, { effectId: row.effectId, launchNo: 1, runId: held.runId, outcome: "confirmed", via: "answer", answer: {} })).toEqual({ kind: "settled" });
  expect(await typesOf(bench, held.runId)).toEqual(log);
  await expect(bench.sql("insert into run_events (run_id, seq, workspace, type, fence, payload) values ($1, 99, 'acme', 'run.failed', 1, '{}')", [held.runId])).rejects.toThrow("run_events_one_end");
});

test("evidence that contradicts what is recorded opens an operations event and changes no outcome", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  const row = launchOf(held);
  await launch(bench.db, row);
  const say = (outcome: "confirmed" | "absent") => settle(bench.db, { effectId: row.effectId, launchNo: 1, runId: held.runId, outcome, via: "answer", ...(outcome === "confirmed" ? { answer: {} } : {}) });
  expect(await say("absent")).toEqual({ kind: "settled" });
  expect(await say("confirmed")).toEqual({ kind: "contradicts" });
  expect(await bench.sql("select state, contradictions, jsonb_array_length(evidence) as evidence from effects")).toEqual([{ state: "absent", contradictions: 1, evidence: 1 }]);
  expect(await bench.sql("select type from ops_events")).toEqual([{ type: "effect.contradicted" }]);
});

test("a settlement wakes the run that waits for the effect, with a new ticket", async () => {
  const [launcher, waiter] = [await hold(bench.db, await beginWorker(bench.db)), await hold(bench.db, await beginWorker(bench.db))];
  const row = launchOf(launcher);
  await launch(bench.db, row);
  await progress(bench.db, parkingOf(waiter, { effectId: row.effectId }));
  await bench.sql("delete from outbox");
  await settle(bench.db, { effectId: row.effectId, launchNo: 1, runId: launcher.runId, outcome: "confirmed", via: "answer", answer: {} });
  expect(await bench.sql("select inbox_seq, due_at <= now() as due from runs where id = $1", [waiter.runId])).toEqual([{ inbox_seq: 1, due: true }]);
  expect(await bench.sql("select run_id from outbox")).toEqual([{ run_id: waiter.runId }]);
  const again = await claim(bench.db, await beginWorker(bench.db), waiter.runId);
  expect(again.nodes).toMatchObject([{ node: "a", attempt: 1, continued: true }]);
});

test("a cancel ends what nobody holds at once and asks the holder of what is held", async () => {
  const free = await accept(bench.db);
  expect(await stop(free, "umbrella")).toEqual({ kind: "not_found" });
  expect(await stop(free)).toMatchObject({ kind: "ended" });
  expect(await typesOf(bench, free)).toEqual(["run.cancelled"]);
  const held = await hold(bench.db, await beginWorker(bench.db));
  expect(await stop(held.runId)).toEqual({ kind: "asked" });
  expect(await stop(held.runId)).toEqual({ kind: "asked" });
  expect(await rowOf(bench, held.runId)).toMatchObject({ status: "running", stop_reason: "enough", stop_by: "operator" });
});

test("a stop that its holder does not obey takes the fence after the grace, not before", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  await stop(held.runId);
  expect(await enforceStops(bench.db, { graceMs: 60_000, limits })).toEqual([]);
  expect(await enforceStops(bench.db, { graceMs: 0, limits })).toMatchObject([{ status: "cancelled", former_owner: held.owner }]);
  expect((await typesOf(bench, held.runId)).slice(-2)).toEqual(["lease.lost", "run.cancelled"]);
  expect(await progress(bench.db, completionOf(held))).toEqual({ kind: "fenced" });
});

test("a pause that was asked for is made state without an ending", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  await bench.sql("update runs set stop_requested = 'pause', stop_drain = 'immediate', stop_at = now()");
  expect(await enforceStops(bench.db, { graceMs: 0, limits })).toMatchObject([{ status: "paused" }]);
  expect((await typesOf(bench, held.runId)).at(-1)).toBe("run.paused");
  expect(await bench.sql("select from outbox where run_id = $1 and created_at > (select max(at) from run_events)", [held.runId])).toEqual([]);
});

test("a run past its deadline is buried with cap.breached, held or not", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db), { runTimeoutMs: 0 });
  const free = await accept(bench.db, { runTimeoutMs: 0 });
  await accept(bench.db, { runTimeoutMs: 60_000 });
  expect((await enforceDeadlines(bench.db, { limits })).map(({ id, status }) => ({ id, status })).sort((a, b) => (a.id < b.id ? -1 : 1)))
    .toEqual([{ id: held.runId, status: "failed" }, { id: free, status: "failed" }].sort((a, b) => (a.id < b.id ? -1 : 1)));
  expect((await typesOf(bench, held.runId)).slice(-4)).toEqual(["lease.lost", "cap.breached", "run.dead-lettered", "run.failed"]);
  expect(await typesOf(bench, free)).toEqual(["cap.breached", "run.dead-lettered", "run.failed"]);
  expect(await bench.sql("select distinct code, class, attempts from dead_letters")).toEqual([{ code: "platform.run_timeout", class: "TRANSIENT", attempts: 1 }]);
});

test("a run past its deadline with an unsafe effect open is UNKNOWN", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db), { runTimeoutMs: 0 });
  await launch(bench.db, launchOf(held));
  await enforceDeadlines(bench.db, { limits });
  expect(await bench.sql("select class, disposition from dead_letters")).toEqual([{ class: "UNKNOWN", disposition: "outcome_unknown" }]);
});

test("a retry that waits is claimed only when it is due, and a parked run holds no owner", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  await progress(bench.db, writeOf(held, {
    nodes: [{ node: "a", status: "retry", attempts: 1, failures: 1, asks: 0, dueMs: 60_000, history: { attempt: 0 } }],
    move: { kind: "park", status: "running", waitingOn: "retry", dueMs: 60_000, inboxSeq: 0 },
  }));
  expect(await rowOf(bench, held.runId)).toMatchObject({ owner: null, status: "running", waiting_on: "retry", fence: "2" });
  await expect(claim(bench.db, held.owner, held.runId)).rejects.toThrow("not_due");
});
