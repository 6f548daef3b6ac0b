import { expect } from "vitest";
import { handBackRuns, requestStop, takeOver, type Queryable } from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { beginWorker, claim, completionOf, hold, lapse, launch, launchOf, limits, parkingOf, progress, rowOf, typesOf, writeOf } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

type Held = Awaited<ReturnType<typeof hold>>;

/** The holder is lapsed, the run taken over and claimed by a peer. Answers the peer. */
async function losesTo(bench: Bench, held: Held): Promise<string> {
  await lapse(bench, held.owner);
  await takeOver(bench.db, { incarnations: [held.owner], limits });
  const peer = await beginWorker(bench.db);
  await claim(bench.db, peer, held.runId);
  return peer;
}

const handBackOn = (db: Queryable, held: Held, kind: "hand_back" | "mislaid" = "hand_back") =>
  handBackRuns(db, { owner: held.owner, limits, runs: [{ id: held.runId, fence: held.fence, kind }] });

const askToStop = (bench: Bench, held: Held) => requestStop(bench.db, { runId: held.runId, workspace: "acme", by: "k" });

export const holders: readonly Scenario[] = [
  {
    of: "runs.progress", holds: "a holder that lost the run meanwhile writes nothing under its old fence",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => losesTo(bench, held), act: (db) => progress(db, completionOf(held)) });
      expect(answer).toEqual({ kind: "fenced" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "running", fence: "3", claims: 2, checkpoint_no: 0 });
      expect(await typesOf(bench, held.runId)).not.toContain("node.completed");
      expect(await bench.sql("select status from run_nodes")).toEqual([{ status: "started" }]);
    },
  },
  {
    of: "runs.progress", holds: "a cancel asked for meanwhile comes before the completion",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => askToStop(bench, held), act: (db) => progress(db, completionOf(held)) });
      expect(answer).toEqual({ kind: "stopping" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "running", owner: held.owner, stop_requested: "cancel" });
      expect(await progress(bench.db, writeOf(held, { events: [{ type: "run.cancelled", payload: {} }], move: { kind: "cancel" } }))).toMatchObject({ kind: "done" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "cancelled" });
    },
  },
  {
    of: "runs.progress", holds: "a cancel asked for meanwhile is told with a checkpoint's answer",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => askToStop(bench, held), act: (db) => progress(db, writeOf(held, { checkpoint: true })) });
      expect(answer).toMatchObject({ kind: "done", stopRequested: "cancel" });
    },
  },
  {
    of: "runs.progress", holds: "a cancel asked for meanwhile is not parked away",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => askToStop(bench, held), act: (db) => progress(db, parkingOf(held)) });
      expect(answer).toEqual({ kind: "stopping" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "running", owner: held.owner });
    },
  },
  {
    of: "runs.progress", holds: "a wake-up that came meanwhile makes the parked run due at once",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, {
        at: "runs.progress", act: (db) => progress(db, parkingOf(held)),
        meanwhile: () => bench.sql("update runs set inbox_seq = inbox_seq + 1 where id = $1", [held.runId]),
      });
      expect(answer).toMatchObject({ kind: "done" });
      expect(await bench.sql("select due_at <= now() as due, sweep_at <= now() as sweepable, waiting_on from runs")).toEqual([{ due: true, sweepable: true, waiting_on: "effect" }]);
      expect(await bench.sql("select due_at <= now() as due from outbox order by seq desc limit 1")).toEqual([{ due: true }]);
    },
  },
  {
    of: "runs.progress", holds: "the same write that was stored meanwhile is answered done and stored once",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const write = completionOf(held);
      const answer = await pauseOnce(bench, { at: "runs.progress", meanwhile: () => progress(bench.db, write), act: (db) => progress(db, write) });
      expect(answer).toMatchObject({ kind: "done" });
      expect(await typesOf(bench, held.runId)).toEqual(["lease.acquired", "run.started", "node.started", "node.completed", "run.completed"]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ checkpoint_no: 1 });
    },
  },
  {
    of: "runs.hand_back", holds: "a run that completed meanwhile stays completed",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const back = await pauseOnce(bench, { at: "runs.hand_back", meanwhile: () => progress(bench.db, completionOf(held)), act: (db) => handBackOn(db, held) });
      expect(back).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "completed", hand_backs: 0 });
    },
  },
  {
    of: "runs.hand_back", holds: "a run that a peer holds meanwhile is not taken from it",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      let peer = "";
      const back = await pauseOnce(bench, { at: "runs.hand_back", meanwhile: async () => { peer = await losesTo(bench, held); }, act: (db) => handBackOn(db, held, "mislaid") });
      expect(back).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ owner: peer, fence: "3", losses: 0 });
    },
  },
  {
    of: "runs.hand_back", holds: "a run whose effect was launched meanwhile is not handed back",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const back = await pauseOnce(bench, { at: "runs.hand_back", meanwhile: () => launch(bench.db, launchOf(held)), act: (db) => handBackOn(db, held) });
      expect(back).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ owner: held.owner, open_effects: 1, hand_backs: 0 });
    },
  },
  {
    of: "runs.hand_back", holds: "a cancel asked for meanwhile ends the run",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const back = await pauseOnce(bench, { at: "runs.hand_back", meanwhile: () => askToStop(bench, held), act: (db) => handBackOn(db, held) });
      expect(back).toMatchObject([{ id: held.runId, status: "cancelled" }]);
    },
  },
];
