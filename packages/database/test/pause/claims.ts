import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { createClaim, handBackRuns, requestStop, sweepRuns, type ClaimAnswer, type Queryable } from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { accept, beginWorker, claim, claimant, completionOf, limits, progress, rowOf, typesOf } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

/** One claim on a given connection. */
const claimOn = (db: Queryable, owner: string, runId: string): Promise<ClaimAnswer> =>
  createClaim(db, () => claimant(owner), { giveUpMs: 20_000 })({ runId, claimId: randomUUID() });

const sweepOn = (db: Queryable, owner: string) => sweepRuns(db, claimant(owner), [randomUUID(), randomUUID()]);

async function twoWorkers({ db }: Bench): Promise<[string, string]> {
  return [await beginWorker(db), await beginWorker(db)];
}

async function end(bench: Bench, owner: string, runId: string): Promise<void> {
  const run = await claim(bench.db, owner, runId);
  expect(await progress(bench.db, completionOf({ runId, owner, fence: run.fence }))).toMatchObject({ kind: "done" });
}

/** What two sessions may do to a claim that has taken its snapshot. */
export const claims: readonly Scenario[] = [
  {
    of: "runs.claim", holds: "a run that another worker claimed meanwhile is refused and claimed once",
    show: async (bench) => {
      const [mine, other] = await twoWorkers(bench);
      const runId = await accept(bench.db);
      const answer = await pauseOnce(bench, { at: "runs.claim", meanwhile: () => claim(bench.db, other, runId), act: (db) => claimOn(db, mine, runId) });
      expect(answer).toEqual({ kind: "refused", reason: "held" });
      expect(await rowOf(bench, runId)).toMatchObject({ owner: other, claims: 1, fence: "1" });
    },
  },
  {
    of: "runs.claim", holds: "a run that ended meanwhile never runs again",
    show: async (bench) => {
      const [mine, other] = await twoWorkers(bench);
      const runId = await accept(bench.db);
      const answer = await pauseOnce(bench, { at: "runs.claim", meanwhile: () => end(bench, other, runId), act: (db) => claimOn(db, mine, runId) });
      expect(answer).toEqual({ kind: "refused", reason: "ended" });
      expect(await rowOf(bench, runId)).toMatchObject({ owner: null, status: "completed", claims: 1 });
    },
  },
  {
    of: "runs.claim", holds: "a run that was cancelled meanwhile stays cancelled",
    show: async (bench) => {
      const mine = await beginWorker(bench.db);
      const runId = await accept(bench.db);
      const answer = await pauseOnce(bench, {
        at: "runs.claim", act: (db) => claimOn(db, mine, runId),
        meanwhile: async () => { expect(await requestStop(bench.db, { runId, workspace: "acme", by: "k" })).toMatchObject({ kind: "ended" }); },
      });
      expect(answer).toEqual({ kind: "refused", reason: "ended" });
      expect(await typesOf(bench, runId)).toEqual(["run.cancelled"]);
    },
  },
  {
    of: "runs.claim", holds: "a run that was claimed and handed back meanwhile is due only after this statement's now, and its new ticket is announced",
    show: async (bench) => {
      const [mine, other] = await twoWorkers(bench);
      const runId = await accept(bench.db);
      await bench.sql("delete from outbox");
      const answer = await pauseOnce(bench, {
        at: "runs.claim", act: (db) => claimOn(db, mine, runId),
        meanwhile: async () => {
          const { fence } = await claim(bench.db, other, runId);
          expect(await handBackRuns(bench.db, { owner: other, limits, runs: [{ id: runId, fence, kind: "hand_back" }] })).toHaveLength(1);
        },
      });
      expect(answer).toEqual({ kind: "refused", reason: "not_due" });
      expect(await bench.sql("select run_id from outbox")).toEqual([{ run_id: runId }]);
      expect(await claim(bench.db, mine, runId)).toMatchObject({ fence: "3", claims: 2, lostTrigger: "handed_back" });
    },
  },
  {
    of: "runs.sweep", holds: "a run that another worker claimed meanwhile is not swept",
    show: async (bench) => {
      const [mine, other] = await twoWorkers(bench);
      const runId = await accept(bench.db);
      const swept = await pauseOnce(bench, { at: "runs.sweep", meanwhile: () => claim(bench.db, other, runId), act: (db) => sweepOn(db, mine) });
      expect(swept).toEqual([]);
      expect(await rowOf(bench, runId)).toMatchObject({ owner: other, claims: 1 });
    },
  },
  {
    of: "runs.sweep", holds: "a run that ended meanwhile is not swept",
    show: async (bench) => {
      const [mine, other] = await twoWorkers(bench);
      const runId = await accept(bench.db);
      const swept = await pauseOnce(bench, { at: "runs.sweep", meanwhile: () => end(bench, other, runId), act: (db) => sweepOn(db, mine) });
      expect(swept).toEqual([]);
      expect(await rowOf(bench, runId)).toMatchObject({ status: "completed", claims: 1 });
    },
  },
  {
    of: "runs.sweep", holds: "a run that was cancelled meanwhile is not swept",
    show: async (bench) => {
      const mine = await beginWorker(bench.db);
      const runId = await accept(bench.db);
      const swept = await pauseOnce(bench, { at: "runs.sweep", meanwhile: () => requestStop(bench.db, { runId, workspace: "acme", by: "k" }), act: (db) => sweepOn(db, mine) });
      expect(swept).toEqual([]);
      expect(await typesOf(bench, runId)).toEqual(["run.cancelled"]);
    },
  },
];
