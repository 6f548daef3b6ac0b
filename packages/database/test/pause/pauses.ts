import { expect } from "vitest";
import { enforceDeadlines, enforceStops, requestPause, requestStop, takeOver, unpauseRun, type Queryable } from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { accept, beginWorker, claim, completionOf, hold, lapse, limits, parkingOf, progress, rowOf, typesOf, writeOf } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

const pauseOn = (db: Queryable, runId: string, drain: "immediate" | "drain-current-node" = "drain-current-node") =>
  requestPause(db, { runId, workspace: "acme", by: "k", reason: "the bank is down", drain });
const unpauseOn = (db: Queryable, runId: string) => unpauseRun(db, { runId, workspace: "acme" });
const cancelOn = (db: Queryable, runId: string) => requestStop(db, { runId, workspace: "acme", by: "k", reason: "enough" });
const pausingOf = (held: { runId: string; owner: string; fence: string }) => writeOf(held, { move: { kind: "pause" } });
const endings = (types: readonly string[]) => types.filter((type) => ["run.completed", "run.failed", "run.cancelled", "run.paused"].includes(type));
const lastPayload = async ({ sql }: Bench, runId: string) => (await sql<{ payload: unknown }>("select payload from run_events where run_id = $1 order by seq desc limit 1", [runId]))[0]?.payload;

/** A held run that was asked to pause long ago. */
async function asked(bench: Bench, drain: "immediate" | "drain-current-node") {
  const held = await hold(bench.db, await beginWorker(bench.db));
  await pauseOn(bench.db, held.runId, drain);
  await bench.sql("update runs set stop_at = now() - interval '1 minute'");
  return held;
}

async function pausedRun(bench: Bench): Promise<string> {
  const runId = await accept(bench.db);
  expect(await pauseOn(bench.db, runId)).toMatchObject({ kind: "paused" });
  return runId;
}

export const pauses: readonly Scenario[] = [
  {
    of: "runs.request_pause", holds: "a run that was claimed meanwhile is asked to pause, not paused under its holder",
    show: async (bench) => {
      const owner = await beginWorker(bench.db);
      const runId = await accept(bench.db);
      const answer = await pauseOnce(bench, { at: "runs.request_pause", meanwhile: () => claim(bench.db, owner, runId), act: (db) => pauseOn(db, runId) });
      expect(answer).toEqual({ kind: "asked" });
      expect(await rowOf(bench, runId)).toMatchObject({ status: "running", owner, stop_requested: "pause", stop_drain: "drain-current-node", fence: "1" });
    },
  },
  {
    of: "runs.request_pause", holds: "a run that completed meanwhile is terminal and stays so",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.request_pause", meanwhile: () => progress(bench.db, completionOf(held)), act: (db) => pauseOn(db, held.runId) });
      expect(answer).toEqual({ kind: "terminal" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "completed", stop_requested: null });
    },
  },
  {
    of: "runs.request_pause", holds: "a run that was parked meanwhile is paused at once and keeps its due time",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.request_pause", meanwhile: () => progress(bench.db, parkingOf(held)), act: (db) => pauseOn(db, held.runId) });
      expect(answer).toMatchObject({ kind: "paused" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "paused", paused_from: "waiting-external", waiting_on: "effect", stop_requested: null, fence: "3" });
      expect(await bench.sql("select due_at > now() + interval '30 seconds' as later from runs")).toEqual([{ later: true }]);
      expect(await lastPayload(bench, held.runId)).toEqual({ reason: "the bank is down", drainPolicy: "drain-current-node" });
    },
  },
  {
    of: "runs.request_pause", holds: "a cancel asked for meanwhile is not weakened to a pause",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.request_pause", meanwhile: () => cancelOn(bench.db, held.runId), act: (db) => pauseOn(db, held.runId) });
      expect(answer).toEqual({ kind: "conflict", status: "cancelling" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ stop_requested: "cancel", stop_reason: "enough" });
    },
  },
  {
    of: "runs.request_pause", holds: "a second pause that came meanwhile leaves one event and is a conflict",
    show: async (bench) => {
      const runId = await accept(bench.db);
      const answer = await pauseOnce(bench, { at: "runs.request_pause", meanwhile: () => pauseOn(bench.db, runId), act: (db) => pauseOn(db, runId) });
      expect(answer).toEqual({ kind: "conflict", status: "paused" });
      expect(await typesOf(bench, runId)).toEqual(["run.paused"]);
    },
  },
  {
    of: "runs.request_stop", holds: "a pause asked for meanwhile is overtaken by the cancel, which tells its own reason",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.request_stop", meanwhile: () => pauseOn(bench.db, held.runId), act: (db) => cancelOn(db, held.runId) });
      expect(answer).toEqual({ kind: "asked" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ stop_requested: "cancel", stop_drain: null, stop_reason: "enough" });
      expect(await progress(bench.db, pausingOf(held))).toMatchObject({ kind: "done", became: "held", stopRequested: "cancel" });
    },
  },
  {
    of: "runs.request_stop", holds: "a run that was paused meanwhile is cancelled",
    show: async (bench) => {
      const runId = await accept(bench.db);
      const answer = await pauseOnce(bench, { at: "runs.request_stop", meanwhile: () => pauseOn(bench.db, runId), act: (db) => cancelOn(db, runId) });
      expect(answer).toMatchObject({ kind: "ended" });
      expect(await rowOf(bench, runId)).toMatchObject({ status: "cancelled", paused_from: null });
      expect(await lastPayload(bench, runId)).toMatchObject({ reason: "enough", cancelledBy: "k" });
    },
  },
  {
    of: "runs.unpause", holds: "a run that was cancelled meanwhile does not go on",
    show: async (bench) => {
      const runId = await pausedRun(bench);
      const answer = await pauseOnce(bench, { at: "runs.unpause", meanwhile: () => cancelOn(bench.db, runId), act: (db) => unpauseOn(db, runId) });
      expect(answer).toEqual({ kind: "terminal" });
      expect(await typesOf(bench, runId)).toEqual(["run.paused", "run.cancelled"]);
    },
  },
  {
    of: "runs.unpause", holds: "a run that another resume let go on and a worker claimed meanwhile keeps its holder",
    show: async (bench) => {
      const owner = await beginWorker(bench.db);
      const runId = await pausedRun(bench);
      const answer = await pauseOnce(bench, {
        at: "runs.unpause", act: (db) => unpauseOn(db, runId),
        meanwhile: async () => {
          await unpauseOn(bench.db, runId);
          await claim(bench.db, owner, runId);
        },
      });
      expect(answer).toEqual({ kind: "conflict", status: "running" });
      expect(await rowOf(bench, runId)).toMatchObject({ owner, status: "running" });
      expect((await typesOf(bench, runId)).filter((type) => type === "run.resumed")).toHaveLength(1);
    },
  },
  {
    of: "runs.unpause", holds: "a pause that its holder honoured meanwhile is resumed, not withdrawn, and announced",
    show: async (bench) => {
      const held = await asked(bench, "drain-current-node");
      await bench.sql("delete from outbox");
      const answer = await pauseOnce(bench, { at: "runs.unpause", meanwhile: () => progress(bench.db, pausingOf(held)), act: (db) => unpauseOn(db, held.runId) });
      expect(answer).toMatchObject({ kind: "resumed" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "running", owner: null, waiting_on: "dispatch", paused_from: null, stop_requested: null });
      expect(await bench.sql("select run_id from outbox")).toEqual([{ run_id: held.runId }]);
      await claim(bench.db, held.owner, held.runId);
    },
  },
  {
    of: "runs.claim", holds: "a run that was paused and resumed meanwhile is claimed as what it is",
    show: async (bench) => {
      const owner = await beginWorker(bench.db);
      const runId = await pausedRun(bench);
      const claimed = await pauseOnce(bench, { at: "runs.claim", meanwhile: () => unpauseOn(bench.db, runId), act: (db) => claim(db, owner, runId) });
      expect(claimed.id).toBe(runId);
      expect(await rowOf(bench, runId)).toMatchObject({ status: "running", owner, paused_from: null });
    },
  },
  {
    of: "runs.progress", holds: "a pause asked for meanwhile turns the completion into a pause and keeps the checkpoint",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => pauseOn(bench.db, held.runId), act: (db) => progress(db, completionOf(held)) });
      expect(answer).toMatchObject({ kind: "done", became: "paused" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "paused", paused_from: "running", owner: null, outputs: null, finished_at: null, checkpoint_no: 1, next_nodes: [], fence: "2" });
      expect(await typesOf(bench, held.runId)).toEqual(["lease.acquired", "run.started", "node.started", "node.completed", "run.paused"]);
      expect(await bench.sql("select status from run_nodes")).toEqual([{ status: "completed" }]);
    },
  },
  {
    of: "runs.progress", holds: "a pause asked for meanwhile turns parking into a pause that keeps the wait",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      await bench.sql("delete from outbox");
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => pauseOn(bench.db, held.runId), act: (db) => progress(db, parkingOf(held)) });
      expect(answer).toMatchObject({ kind: "done", became: "paused" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "paused", paused_from: "waiting-external", waiting_on: "effect", stop_requested: null });
      expect(await bench.sql("select from outbox")).toEqual([]);
    },
  },
  {
    of: "runs.progress", holds: "a pause that was taken back meanwhile leaves the run with its holder",
    show: async (bench) => {
      const held = await asked(bench, "drain-current-node");
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => unpauseOn(bench.db, held.runId), act: (db) => progress(db, pausingOf(held)) });
      expect(answer).toMatchObject({ kind: "done", became: "held", stopRequested: null });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "running", owner: held.owner, fence: "1" });
      expect(endings(await typesOf(bench, held.runId))).toEqual([]);
    },
  },
  {
    of: "runs.progress", holds: "the same pause that was stored meanwhile is answered paused and stored once",
    show: async (bench) => {
      const held = await asked(bench, "immediate");
      const write = writeOf(held, { move: { kind: "pause", interrupted: { nodeId: "a", attempt: 0 } } });
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => progress(bench.db, write), act: (db) => progress(db, write) });
      expect(answer).toMatchObject({ kind: "done", became: "paused" });
      expect(endings(await typesOf(bench, held.runId))).toEqual(["run.paused"]);
      expect(await lastPayload(bench, held.runId)).toEqual({ reason: "the bank is down", drainPolicy: "immediate", interruptedNodeId: "a", interruptedAttempt: 0 });
    },
  },
  {
    of: "runs.enforce_stops", holds: "a pause that lets its node finish is left to its holder, an immediate one is cut after the grace",
    show: async (bench) => {
      const draining = await asked(bench, "drain-current-node");
      const cut = await hold(bench.db, await beginWorker(bench.db));
      const enforced = await pauseOnce(bench, {
        at: "runs.enforce_stops", act: (db) => enforceStops(db, { graceMs: 2000, limits }),
        meanwhile: async () => {
          await pauseOn(bench.db, cut.runId, "immediate");
          await bench.sql("update runs set stop_at = now() - interval '1 minute'");
        },
      });
      // what was asked for after its snapshot is the next pass's
      expect([...enforced, ...(await enforceStops(bench.db, { graceMs: 2000, limits }))]).toMatchObject([{ id: cut.runId, status: "paused" }]);
      expect(await rowOf(bench, draining.runId)).toMatchObject({ status: "running", owner: draining.owner, stop_requested: "pause" });
      expect(await progress(bench.db, completionOf(cut))).toEqual({ kind: "fenced" });
      expect(await lastPayload(bench, cut.runId)).toEqual({ reason: "the bank is down", drainPolicy: "immediate", interruptedNodeId: "a", interruptedAttempt: 0 });
    },
  },
  {
    of: "runs.enforce_stops", holds: "a pause that was taken back meanwhile is not enforced",
    show: async (bench) => {
      const held = await asked(bench, "immediate");
      const enforced = await pauseOnce(bench, { at: "runs.enforce_stops", meanwhile: () => unpauseOn(bench.db, held.runId), act: (db) => enforceStops(db, { graceMs: 2000, limits }) });
      expect(enforced).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "running", owner: held.owner });
    },
  },
  {
    of: "runs.take_over", holds: "a run whose pause was asked for meanwhile is paused instead of released, and goes on as restored",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      await lapse(bench, held.owner);
      const taken = await pauseOnce(bench, { at: "runs.take_over", meanwhile: () => pauseOn(bench.db, held.runId), act: (db) => takeOver(db, { incarnations: [held.owner], limits }) });
      expect(taken).toMatchObject([{ id: held.runId, status: "paused" }]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "paused", paused_from: "running", owner: null, stop_requested: null });
      expect(await unpauseOn(bench.db, held.runId)).toMatchObject({ kind: "resumed" });
      await claim(bench.db, await beginWorker(bench.db), held.runId);
      expect((await typesOf(bench, held.runId)).slice(-4)).toEqual(["run.resumed", "lease.acquired", "workflow.restored", "node.started"]);
    },
  },
  {
    of: "runs.enforce_deadlines", holds: "a run that was paused meanwhile has passed its deadline all the same",
    show: async (bench) => {
      const runId = await accept(bench.db, { runTimeoutMs: 0 });
      const ended = await pauseOnce(bench, { at: "runs.enforce_deadlines", meanwhile: () => pauseOn(bench.db, runId), act: (db) => enforceDeadlines(db, { limits }) });
      expect(ended).toMatchObject([{ id: runId, status: "failed" }]);
      expect(await rowOf(bench, runId)).toMatchObject({ status: "failed", paused_from: null });
    },
  },
];
