import { expect } from "vitest";
import { requestStop, suspectRuns, takeOver, type Queryable } from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { beginWorker, claim, completionOf, hold, lapse, launch, launchOf, limits, progress, rowOf, typesOf } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

const takeOverOn = (db: Queryable, owner: string) => takeOver(db, { incarnations: [owner], limits });
const suspectOn = (db: Queryable, owner: string) => suspectRuns(db, { incarnations: [owner], limits });

/** A run of a worker that has lapsed. */
async function orphan(bench: Bench) {
  const held = await hold(bench.db, await beginWorker(bench.db));
  await lapse(bench, held.owner);
  return held;
}

/** Another process releases the run meanwhile, and a peer claims it. */
async function goesToPeer(bench: Bench, { runId, owner }: { runId: string; owner: string }, release: (db: Queryable, owner: string) => Promise<unknown>): Promise<void> {
  await release(bench.db, owner);
  await claim(bench.db, await beginWorker(bench.db), runId);
}

export const releases: readonly Scenario[] = [
  {
    of: "runs.take_over", holds: "a run that its lapsed holder completed meanwhile stays completed",
    show: async (bench) => {
      const held = await orphan(bench);
      const taken = await pauseOnce(bench, { at: "runs.take_over", meanwhile: () => progress(bench.db, completionOf(held)), act: (db) => takeOverOn(db, held.owner) });
      expect(taken).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "completed", crashes: 0 });
    },
  },
  {
    of: "runs.take_over", holds: "a run that went to a peer meanwhile is not taken from it, and its loss is counted once",
    show: async (bench) => {
      const held = await orphan(bench);
      const taken = await pauseOnce(bench, { at: "runs.take_over", meanwhile: () => goesToPeer(bench, held, takeOverOn), act: (db) => takeOverOn(db, held.owner) });
      expect(taken).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ fence: "3", claims: 2, crashes: 1, losses: 0 });
    },
  },
  {
    of: "runs.take_over", holds: "a cancel asked for meanwhile ends the run instead of releasing it",
    show: async (bench) => {
      const held = await orphan(bench);
      const taken = await pauseOnce(bench, {
        at: "runs.take_over", meanwhile: () => requestStop(bench.db, { runId: held.runId, workspace: "acme", by: "k" }), act: (db) => takeOverOn(db, held.owner),
      });
      expect(taken).toMatchObject([{ status: "cancelled" }]);
      expect((await typesOf(bench, held.runId)).at(-1)).toBe("run.cancelled");
    },
  },
  {
    of: "runs.take_over", holds: "a run past the crash limit whose unsafe effect was launched meanwhile is never buried as if nothing were open",
    show: async (bench) => {
      const held = await orphan(bench);
      await bench.sql("update runs set crashes = 4 where id = $1", [held.runId]);
      await pauseOnce(bench, { at: "runs.take_over", meanwhile: () => launch(bench.db, launchOf(held)), act: (db) => takeOverOn(db, held.owner) });
      await takeOverOn(bench.db, held.owner);
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "failed", error: { details: { class: "UNKNOWN" } } });
      expect(await bench.sql("select class, disposition, cardinality(effect_ids) as effects from dead_letters")).toEqual([{ class: "UNKNOWN", disposition: "outcome_unknown", effects: 1 }]);
      expect(await bench.sql("select state from effects")).toEqual([{ state: "unknown" }]);
    },
  },
  {
    of: "runs.suspect", holds: "a run whose effect was launched meanwhile waits for the lapse",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const released = await pauseOnce(bench, { at: "runs.suspect", meanwhile: () => launch(bench.db, launchOf(held)), act: (db) => suspectOn(db, held.owner) });
      expect(released).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ owner: held.owner, suspicion_used: false });
    },
  },
  {
    of: "runs.suspect", holds: "a run that completed meanwhile stays completed",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const released = await pauseOnce(bench, { at: "runs.suspect", meanwhile: () => progress(bench.db, completionOf(held)), act: (db) => suspectOn(db, held.owner) });
      expect(released).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "completed", losses: 0 });
    },
  },
  {
    of: "runs.suspect", holds: "a run that another watcher released meanwhile is not taken from the peer that claimed it",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const released = await pauseOnce(bench, { at: "runs.suspect", meanwhile: () => goesToPeer(bench, held, suspectOn), act: (db) => suspectOn(db, held.owner) });
      expect(released).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ fence: "3", claims: 2, losses: 1 });
    },
  },
];
