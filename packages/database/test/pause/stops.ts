import { expect } from "vitest";
import { enforceDeadlines, enforceStops, handBackRuns, requestStop, type Queryable } from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { accept, beginWorker, claim, completionOf, hold, limits, progress, rowOf, typesOf, writeOf } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

const stopOn = (db: Queryable, runId: string) => requestStop(db, { runId, workspace: "acme", by: "k", reason: "enough" });
const endings = (types: readonly string[]) => types.filter((type) => ["run.completed", "run.failed", "run.cancelled"].includes(type));

/** A held run that was asked to stop long ago. */
async function disobedient(bench: Bench) {
  const held = await hold(bench.db, await beginWorker(bench.db));
  await stopOn(bench.db, held.runId);
  await bench.sql("update runs set stop_at = now() - interval '1 minute'");
  return held;
}

const cancellationOf = (held: { runId: string; owner: string; fence: string }) => writeOf(held, { events: [{ type: "run.cancelled", payload: {} }], move: { kind: "cancel" } });

export const stops: readonly Scenario[] = [
  {
    of: "runs.request_stop", holds: "a run that was claimed meanwhile is asked to stop, not ended under its holder",
    show: async (bench) => {
      const owner = await beginWorker(bench.db);
      const runId = await accept(bench.db);
      const answer = await pauseOnce(bench, { at: "runs.request_stop", meanwhile: () => claim(bench.db, owner, runId), act: (db) => stopOn(db, runId) });
      expect(answer).toEqual({ kind: "asked" });
      expect(await rowOf(bench, runId)).toMatchObject({ status: "running", owner, stop_requested: "cancel", fence: "1" });
    },
  },
  {
    of: "runs.request_stop", holds: "a run that completed meanwhile is terminal and stays so",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.request_stop", meanwhile: () => progress(bench.db, completionOf(held)), act: (db) => stopOn(db, held.runId) });
      expect(answer).toEqual({ kind: "terminal" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "completed", stop_requested: null });
    },
  },
  {
    of: "runs.request_stop", holds: "a run that was handed back meanwhile ends at once",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, {
        at: "runs.request_stop", act: (db) => stopOn(db, held.runId),
        meanwhile: () => handBackRuns(bench.db, { owner: held.owner, limits, runs: [{ id: held.runId, fence: held.fence, kind: "hand_back" }] }),
      });
      expect(answer).toMatchObject({ kind: "ended" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "cancelled", fence: "3" });
    },
  },
  {
    of: "runs.request_stop", holds: "a second cancel that came meanwhile leaves one ending",
    show: async (bench) => {
      const runId = await accept(bench.db);
      const answer = await pauseOnce(bench, { at: "runs.request_stop", meanwhile: () => stopOn(bench.db, runId), act: (db) => stopOn(db, runId) });
      expect(answer).toEqual({ kind: "terminal" });
      expect(endings(await typesOf(bench, runId))).toHaveLength(1);
    },
  },
  {
    of: "runs.enforce_stops", holds: "a run that its holder ended meanwhile is not ended twice",
    show: async (bench) => {
      const held = await disobedient(bench);
      const ended = await pauseOnce(bench, { at: "runs.enforce_stops", meanwhile: () => progress(bench.db, cancellationOf(held)), act: (db) => enforceStops(db, { graceMs: 2000, limits }) });
      expect(ended).toEqual([]);
      expect(endings(await typesOf(bench, held.runId))).toEqual(["run.cancelled"]);
    },
  },
  {
    of: "runs.enforce_stops", holds: "another lane that ended the run meanwhile ended it once",
    show: async (bench) => {
      const held = await disobedient(bench);
      const again = (db: Queryable) => enforceStops(db, { graceMs: 2000, limits });
      expect(await pauseOnce(bench, { at: "runs.enforce_stops", meanwhile: () => again(bench.db), act: again })).toEqual([]);
      expect(endings(await typesOf(bench, held.runId))).toEqual(["run.cancelled"]);
    },
  },
  {
    of: "runs.enforce_deadlines", holds: "a run that completed meanwhile has kept its deadline",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db), { runTimeoutMs: 0 });
      const ended = await pauseOnce(bench, { at: "runs.enforce_deadlines", meanwhile: () => progress(bench.db, completionOf(held)), act: (db) => enforceDeadlines(db, { limits }) });
      expect(ended).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "completed" });
    },
  },
  {
    of: "runs.enforce_deadlines", holds: "a run that was claimed meanwhile is taken from its new holder, whose writes are fenced",
    show: async (bench) => {
      const owner = await beginWorker(bench.db);
      const runId = await accept(bench.db, { runTimeoutMs: 0 });
      const ended = await pauseOnce(bench, { at: "runs.enforce_deadlines", meanwhile: () => claim(bench.db, owner, runId), act: (db) => enforceDeadlines(db, { limits }) });
      expect(ended).toMatchObject([{ id: runId, status: "failed", former_owner: owner }]);
      expect((await typesOf(bench, runId)).slice(-4)).toEqual(["lease.lost", "cap.breached", "run.dead-lettered", "run.failed"]);
      expect(await progress(bench.db, completionOf({ runId, owner, fence: "1" }))).toEqual({ kind: "fenced" });
    },
  },
];
