import { expect } from "vitest";
import { createAccept, isolateOutbox, takeOutbox, type NewRun, type Queryable } from "../../src/index.js";
import { accept, beginWorker, claim, newRun, sha256 } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

const acceptOn = (db: Queryable, run: NewRun) => createAccept(db, { dispatchBoundMs: 0, giveUpMs: 20_000 })(run);
const withKey = (body = "{}") => newRun({ idempotency: { operation: "runs.create", key: "k1", bodyDigest: sha256(body), answer: { said: body } } });

export const acceptance: readonly Scenario[] = [
  {
    of: "runs.accept", holds: "the same key accepted meanwhile is answered by its record, and one run is born",
    show: async (bench) => {
      const answer = await pauseOnce(bench, { at: "runs.accept", meanwhile: () => acceptOn(bench.db, withKey()), act: (db) => acceptOn(db, withKey()) });
      expect(answer).toEqual({ kind: "replayed", status: 201, body: { said: "{}" } });
      expect(await bench.sql("select from runs")).toHaveLength(1);
      expect(await bench.sql("select from outbox")).toHaveLength(1);
    },
  },
  {
    of: "runs.accept", holds: "the same key with another body accepted meanwhile is a mismatch, and nothing of this run stays",
    show: async (bench) => {
      const answer = await pauseOnce(bench, { at: "runs.accept", meanwhile: () => acceptOn(bench.db, withKey("other")), act: (db) => acceptOn(db, withKey()) });
      expect(answer).toEqual({ kind: "key_mismatch" });
      expect(await bench.sql("select from runs")).toHaveLength(1);
    },
  },
  {
    of: "runs.accept", holds: "a live scope taken meanwhile refuses the run and keeps no record of its key",
    show: async (bench) => {
      const scoped = () => ({ ...withKey(), dedupScope: "customer-1" });
      const other = { ...newRun(), dedupScope: "customer-1" };
      const answer = await pauseOnce(bench, { at: "runs.accept", meanwhile: () => acceptOn(bench.db, other), act: (db) => acceptOn(db, scoped()) });
      expect(answer).toEqual({ kind: "scope_active" });
      expect(await bench.sql("select from idempotency_records")).toEqual([]);
    },
  },
  {
    of: "outbox.take", holds: "a row taken by another relay meanwhile is not taken twice",
    show: async (bench) => {
      const [mine, other] = [await beginWorker(bench.db), await beginWorker(bench.db)];
      await accept(bench.db);
      const takeOn = (db: Queryable, relay: string) => takeOutbox(db, { relay, limit: 10, staleMs: 5_000, horizonMs: 1_000 });
      const taken = await pauseOnce(bench, {
        at: "outbox.take", act: (db) => takeOn(db, mine),
        meanwhile: async () => { expect((await takeOn(bench.db, other)).rows).toHaveLength(1); },
      });
      expect(taken.rows).toEqual([]);
      expect(await bench.sql("select taken_by, tries from outbox")).toEqual([{ taken_by: other, tries: 1 }]);
    },
  },
  {
    of: "outbox.isolate", holds: "a row that another relay took meanwhile is left to it",
    show: async (bench) => {
      const [mine, other] = [await beginWorker(bench.db), await beginWorker(bench.db)];
      await accept(bench.db);
      const { rows } = await takeOutbox(bench.db, { relay: mine, limit: 10, staleMs: 5_000, horizonMs: 1_000 });
      await bench.sql("update outbox set tries = 6");
      const isolated = await pauseOnce(bench, {
        at: "outbox.isolate", meanwhile: () => takeOutbox(bench.db, { relay: other, limit: 10, staleMs: 0, horizonMs: 1_000 }),
        act: (db) => isolateOutbox(db, { seqs: rows.map(({ seq }) => seq), relay: mine, mostTries: 5, reason: "refused" }),
      });
      expect(isolated).toEqual([]);
      expect(await bench.sql("select taken_by, tries from outbox")).toEqual([{ taken_by: other, tries: 7 }]);
      expect(await bench.sql("select from message_dead_letters")).toEqual([]);
    },
  },
  {
    of: "outbox.take", holds: "a run that was claimed meanwhile costs a ticket that its claim refuses, never a run",
    show: async (bench) => {
      const mine = await beginWorker(bench.db);
      const runId = await accept(bench.db);
      const taken = await pauseOnce(bench, {
        at: "outbox.take", meanwhile: () => claim(bench.db, mine, runId),
        act: (db) => takeOutbox(db, { relay: mine, limit: 10, staleMs: 5_000, horizonMs: 1_000 }),
      });
      expect(taken.rows).toHaveLength(1);
      await expect(claim(bench.db, mine, runId)).rejects.toThrow("held");
    },
  },
];
