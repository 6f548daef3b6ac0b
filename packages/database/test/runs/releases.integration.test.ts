import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClaim, handBackRuns, retireIncarnation, suspectRuns, sweepRuns, takeOver } from "../../src/index.js";
import { brokenLaws } from "../bench/broken-laws.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { beginWorker, claim, claimant, hold, lapse, launch, launchOf, limits, progress, rowOf, typesOf, writeOf } from "../bench/seed.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());
beforeEach(async ({ onTestFinished }) => {
  await bench.sql("truncate runs, run_nodes, run_events, outbox, effects, incarnations, dead_letters, ops_events cascade");
  onTestFinished(async () => { expect(await brokenLaws(bench)).toEqual([]); });
});

type Held = Awaited<ReturnType<typeof hold>>;

async function holdMany(count: number): Promise<[Held, ...Held[]]> {
  const owner = await beginWorker(bench.db);
  const held: Held[] = [];
  for (let i = 0; i < count; i++) held.push(await hold(bench.db, owner));
  return held as [Held, ...Held[]];
}

/** The owner dies of silence and its runs are taken over. */
async function dies(owner: string) {
  await lapse(bench, owner);
  return takeOver(bench.db, { incarnations: [owner], limits });
}

/** A fresh worker claims the runs. */
async function claimedAnew(held: readonly Held[]): Promise<string> {
  const owner = await beginWorker(bench.db);
  await bench.sql("update runs set due_at = now(), sweep_at = now() where owner is null");
  for (const { runId } of held) await claim(bench.db, owner, runId);
  return owner;
}

const handBack = (held: Held, kind: "hand_back" | "mislaid") => handBackRuns(bench.db, { owner: held.owner, limits, runs: [{ id: held.runId, fence: held.fence, kind }] });
const suspect = (owner: string) => suspectRuns(bench.db, { incarnations: [owner], limits });

test("the runs of a live owner are never taken over", async () => {
  const [held] = await holdMany(1);
  expect(await takeOver(bench.db, { incarnations: [held.owner], limits })).toEqual([]);
  expect(await rowOf(bench, held.runId)).toMatchObject({ owner: held.owner, fence: "1" });
});

test("a run that died alone is charged a crash, and is due at once", async () => {
  const [held] = await holdMany(1);
  expect(await dies(held.owner)).toMatchObject([{ id: held.runId, status: "running", trigger: "heartbeat_expired", crash: true }]);
  expect(await rowOf(bench, held.runId)).toMatchObject({ owner: null, fence: "2", crashes: 1, losses: 0, cohort_limit: null, waiting_on: "dispatch" });
  expect(await bench.sql("select due_at <= now() as due from runs")).toEqual([{ due: true }]);
  expect((await typesOf(bench, held.runId)).at(-1)).toBe("lease.lost");
});

test("a death shared by several runs is charged to none of them", async () => {
  const held = await holdMany(3);
  await dies(held[0].owner);
  expect(await bench.sql("select distinct crashes, losses, cohort_limit from runs")).toEqual([{ crashes: 0, losses: 1, cohort_limit: null }]);
});

test("a second shared death without a checkpoint isolates the runs to an eighth of their company, after a back-off", async () => {
  const held = await holdMany(20);
  await dies(held[0].owner);
  await dies(await claimedAnew(held));
  expect(await bench.sql("select distinct crashes, losses, cohort_limit, waiting_on, waiting_reason, due_at > now() + interval '500 ms' as later from runs"))
    .toEqual([{ crashes: 0, losses: 2, cohort_limit: 3, waiting_on: "capacity", waiting_reason: "isolation", later: true }]);
  const owner = await beginWorker(bench.db);
  await bench.sql("update runs set due_at = now(), sweep_at = now()");
  const claimWith = (holding: number) => createClaim(bench.db, () => claimant(owner, holding), { giveUpMs: 5_000 })({ runId: held[0].runId, claimId: randomUUID() });
  expect(await claimWith(3)).toEqual({ kind: "refused", reason: "isolated" });
  expect(await sweepRuns(bench.db, claimant(owner, 3), [randomUUID()])).toEqual([]);
  expect(await claimWith(2)).toMatchObject({ kind: "claimed" });
});

test("a checkpoint lifts the isolation and begins the counts anew", async () => {
  const held = await holdMany(20);
  await dies(held[0].owner);
  await dies(await claimedAnew(held));
  const owner = await claimedAnew(held.slice(0, 1));
  const { fence } = await rowOf(bench, held[0].runId) as { fence: string };
  expect(await progress(bench.db, writeOf({ runId: held[0].runId, owner, fence }, { checkpoint: true }))).toMatchObject({ kind: "done" });
  expect(await rowOf(bench, held[0].runId)).toMatchObject({ cohort_limit: null, stale_deaths: 0, stale_losses: 0, losses: 2 });
});

test("shared deaths of 1,000 runs that one of them causes go 1,000 → 125 → 16 → 2 → 1", async () => {
  const [held] = await holdMany(1);
  const seen: (number | null)[] = [];
  let { owner } = held;
  for (let company = 1000, dead = 0; dead < 6; dead++) {
    await lapse(bench, owner);
    await bench.sql("update incarnations set held_at_lapse = $2 where id = $1", [owner, company]);
    await takeOver(bench.db, { incarnations: [owner], limits: { ...limits, crashLimit: 100 } });
    const [row] = await bench.sql<{ limit: number | null }>("select cohort_limit as limit from runs");
    seen.push(row?.limit ?? null);
    company = row?.limit ?? company;
    owner = await claimedAnew([held]);
  }
  expect(seen).toEqual([null, 125, 16, 2, 1, 1]);
});

test("a run at its crash limit is buried: lease.lost, run.dead-lettered, run.failed, one dead letter, one operations event", async () => {
  const [held] = await holdMany(1);
  await bench.sql("update runs set crashes = 4");
  expect(await dies(held.owner)).toMatchObject([{ status: "failed", crash: true }]);
  expect((await typesOf(bench, held.runId)).slice(-3)).toEqual(["lease.lost", "run.dead-lettered", "run.failed"]);
  expect(await bench.sql("select scope, class, code, disposition, attempts, state, next_action, fencing_token, incarnation from dead_letters")).toEqual([{
    scope: "run", class: "DEFECT", code: "platform.crash_limit_exceeded", disposition: "crash_limit_exceeded", attempts: 1,
    state: "OPERATOR_DECISION_REQUIRED", next_action: "decide", fencing_token: "1", incarnation: held.owner,
  }]);
  expect(await bench.sql("select type, subject from ops_events")).toEqual([{ type: "run.dead_lettered", subject: held.runId }]);
  expect(await bench.sql("select error->>'code' as code, error->'details'->>'disposition' as disposition from runs")).toEqual([{ code: "mainstay.crash_limit_exceeded", disposition: "crash_limit_exceeded" }]);
});

test("a run at its crash limit with an unsafe effect open is UNKNOWN, and so is the effect", async () => {
  const [held] = await holdMany(1);
  const row = launchOf(held);
  await launch(bench.db, row);
  await bench.sql("update runs set crashes = 4");
  await dies(held.owner);
  expect(await bench.sql("select class, disposition, state, effect_ids from dead_letters"))
    .toEqual([{ class: "UNKNOWN", disposition: "outcome_unknown", state: "RECONCILIATION_REQUIRED", effect_ids: [row.effectId] }]);
  expect(await bench.sql("select state from effects")).toEqual([{ state: "unknown" }]);
});

test("an open idempotent write does not make a crash limit UNKNOWN", async () => {
  const [held] = await holdMany(1);
  await launch(bench.db, launchOf(held, { class: "idempotent_write", keyRetentionMs: 60_000 }));
  await bench.sql("update runs set crashes = 4");
  await dies(held.owner);
  expect(await bench.sql("select disposition from dead_letters")).toEqual([{ disposition: "crash_limit_exceeded" }]);
});

test("losses beyond the limit count as crashes", async () => {
  const held = await holdMany(2);
  await bench.sql("update runs set losses = 20, stale_losses = 20 where id = $1", [held[0].runId]);
  await dies(held[0].owner);
  expect(await bench.sql("select crashes, losses from runs order by crashes")).toEqual([{ crashes: 0, losses: 1 }, { crashes: 1, losses: 20 }]);
});

test("a hand-back is no failure and no crash, and the next claim tells of it", async () => {
  const [held] = await holdMany(1);
  expect(await handBack(held, "hand_back")).toMatchObject([{ status: "running", trigger: "handed_back", crash: false }]);
  expect(await rowOf(bench, held.runId)).toMatchObject({ owner: null, fence: "2", crashes: 0, losses: 0, hand_backs: 1 });
  await claimedAnew([held]);
  expect(await bench.sql("select payload->>'x-trigger' as trigger from run_events where type = 'workflow.restored'")).toEqual([{ trigger: "handed_back" }]);
});

test("hand-backs beyond the limit count as crashes, and at the crash limit the run is buried for them", async () => {
  const [held] = await holdMany(1);
  await bench.sql("update runs set hand_backs = 20, stale_hand_backs = 20, crashes = 4");
  expect(await handBack(held, "hand_back")).toMatchObject([{ status: "failed", crash: true }]);
  expect(await bench.sql("select disposition from dead_letters")).toEqual([{ disposition: "handback_limit_exceeded" }]);
});

test("a mislaid run is handed back, also with an open effect, and charged to nobody", async () => {
  const [held] = await holdMany(1);
  await launch(bench.db, launchOf(held));
  expect(await handBack(held, "hand_back")).toEqual([]);
  expect(await handBack(held, "mislaid")).toMatchObject([{ trigger: "mislaid", crash: false }]);
  expect(await rowOf(bench, held.runId)).toMatchObject({ owner: null, losses: 1, crashes: 0, open_effects: 1 });
});

test("a hand-back under an old fence changes nothing", async () => {
  const [held] = await holdMany(1);
  expect(await handBack({ ...held, fence: "0" }, "mislaid")).toEqual([]);
});

test("a suspicion serves a run once between two checkpoints", async () => {
  const [held] = await holdMany(1);
  expect(await suspect(held.owner)).toMatchObject([{ trigger: "session_lost", crash: false }]);
  const second = await claimedAnew([held]);
  expect(await suspect(second)).toEqual([]);
  const { fence } = await rowOf(bench, held.runId) as { fence: string };
  await progress(bench.db, writeOf({ runId: held.runId, owner: second, fence }, { checkpoint: true }));
  expect(await suspect(second)).toHaveLength(1);
});

test("a suspicion leaves a run with an open effect to the lapse", async () => {
  const held = await holdMany(2);
  await launch(bench.db, launchOf(held[0]));
  expect(await suspect(held[0].owner)).toMatchObject([{ id: held[1]?.runId }]);
  expect(await rowOf(bench, held[0].runId)).toMatchObject({ owner: held[0].owner });
});

test("what an incarnation holds when it says good-bye is handed back, not crashed", async () => {
  const [held] = await holdMany(1);
  expect(await retireIncarnation(bench.db, held.owner)).toBe(1);
  expect(await takeOver(bench.db, { incarnations: [held.owner], limits })).toMatchObject([{ trigger: "handed_back", crash: false }]);
});

test("an incarnation that has lapsed claims nothing more, by ticket or by sweep", async () => {
  const [held] = await holdMany(1);
  const dead = await beginWorker(bench.db);
  await lapse(bench, dead);
  await handBack(held, "hand_back");
  expect(await createClaim(bench.db, () => claimant(dead), { giveUpMs: 5_000 })({ runId: held.runId, claimId: randomUUID() })).toEqual({ kind: "refused", reason: "not_capable" });
  expect(await sweepRuns(bench.db, claimant(dead), [randomUUID()])).toEqual([]);
});

test("a claim that was on its way at the lapse shares the death: two of them are charged to nobody", async () => {
  const held = await holdMany(2);
  await bench.sql("update runs set owner = null, waiting_on = 'dispatch'");
  await lapse(bench, held[0].owner);
  await bench.sql("update runs set owner = $1, waiting_on = null", [held[0].owner]);
  await takeOver(bench.db, { incarnations: [held[0].owner], limits });
  expect(await bench.sql("select distinct crashes, losses from runs")).toEqual([{ crashes: 0, losses: 1 }]);
});

test("a takeover in pages takes every run once and says with a short page that nothing is left", async () => {
  const held = await holdMany(7);
  await lapse(bench, held[0].owner);
  const page = () => takeOver(bench.db, { incarnations: [held[0].owner], limits, limit: 3 });
  expect([await page(), await page(), await page()].map((taken) => taken.length)).toEqual([3, 3, 1]);
  expect(await bench.sql("select distinct fence, losses, crashes from runs")).toHaveLength(1);
});
