import { expect } from "vitest";
import {
  beatIncarnation, beginIncarnation, deleteIncarnations, drainIncarnation, lapseIncarnations, retireIncarnation, withholdBeat, type Queryable,
} from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { beginWorker, lapse } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

const beatOn = (db: Queryable, id: string) => beatIncarnation(db, { id, heartbeatMs: 1000, ring: 2 });

/** A worker whose last beat is an hour old, as a witness has seen it. */
async function overdue({ db, sql }: Bench): Promise<{ id: string; beatNo: string }> {
  const id = await beginWorker(db);
  await sql("update incarnations set beat_at = now() - interval '1 hour' where id = $1", [id]);
  return { id, beatNo: "0" };
}

const lapsedOf = async ({ sql }: Bench, id: string): Promise<boolean> => (await sql<{ lapsed: boolean }>("select lapsed_at is not null as lapsed from incarnations where id = $1", [id]))[0]?.lapsed ?? false;

/** What must answer "gone" when the incarnation lapses between its snapshot and its lock. */
const refusedByLapse = (of: string, act: (db: Queryable, id: string) => Promise<unknown>, gone: unknown): Scenario => ({
  of, holds: "an incarnation that lapsed meanwhile stays dead",
  show: async (bench) => {
    const id = await beginWorker(bench.db);
    expect(await pauseOnce(bench, { at: of, meanwhile: () => lapse(bench, id), act: (db) => act(db, id) })).toEqual(gone);
    expect(await bench.sql("select ended_at, draining_at, lapsed_trigger from incarnations where lapsed_at is not null")).toEqual([{ ended_at: null, draining_at: null, lapsed_trigger: "heartbeat_expired" }]);
  },
});

export const incarnations: readonly Scenario[] = [
  {
    of: "incarnations.lapse", holds: "a beat that came meanwhile saves the incarnation",
    show: async (bench) => {
      const seen = await overdue(bench);
      const lapsed = await pauseOnce(bench, { at: "incarnations.lapse", meanwhile: () => beatOn(bench.db, seen.id), act: (db) => lapseIncarnations(db, { seen: [seen], heartbeatMs: 1000 }) });
      expect(lapsed).toEqual([]);
      expect(await lapsedOf(bench, seen.id)).toBe(false);
    },
  },
  {
    of: "incarnations.lapse", holds: "a beat that came meanwhile saves the incarnation also when the database's clock was set forward since",
    show: async (bench) => {
      const seen = await overdue(bench);
      const lapsed = await pauseOnce(bench, {
        at: "incarnations.lapse", act: (db) => lapseIncarnations(db, { seen: [seen], heartbeatMs: 1000 }),
        meanwhile: async () => {
          await beatOn(bench.db, seen.id);
          await bench.sql("update incarnations set beat_at = now() - interval '1 hour'");
        },
      });
      expect(lapsed).toEqual([]);
      expect(await lapsedOf(bench, seen.id)).toBe(false);
    },
  },
  {
    of: "incarnations.lapse", holds: "an incarnation that said good-bye meanwhile is not lapsed",
    show: async (bench) => {
      const seen = await overdue(bench);
      const lapsed = await pauseOnce(bench, { at: "incarnations.lapse", meanwhile: () => retireIncarnation(bench.db, seen.id), act: (db) => lapseIncarnations(db, { seen: [seen], heartbeatMs: 1000 }) });
      expect(lapsed).toEqual([]);
      expect(await lapsedOf(bench, seen.id)).toBe(false);
    },
  },
  {
    of: "incarnations.lapse", holds: "an incarnation that another witness lapsed meanwhile dies once",
    show: async (bench) => {
      const seen = await overdue(bench);
      const act = (db: Queryable) => lapseIncarnations(db, { seen: [seen], heartbeatMs: 1000 });
      expect(await pauseOnce(bench, { at: "incarnations.lapse", meanwhile: () => act(bench.db), act })).toEqual([]);
    },
  },
  refusedByLapse("incarnations.beat", beatOn, undefined),
  refusedByLapse("incarnations.drain", drainIncarnation, false),
  refusedByLapse("incarnations.retire", retireIncarnation, undefined),
  refusedByLapse("incarnations.withhold", withholdBeat, false),
  refusedByLapse("incarnations.begin", (db, id) => beginIncarnation(db, { id, role: "worker", host: "bench", version: "1", leaseMs: 3000 }), undefined),
  {
    of: "incarnations.delete", holds: "an incarnation that another lane removed meanwhile is removed once",
    show: async (bench) => {
      const id = await beginWorker(bench.db);
      await lapse(bench, id);
      await bench.sql("update incarnations set lapsed_at = now() - interval '2 days'");
      const act = (db: Queryable) => deleteIncarnations(db, { afterMs: 1000 });
      expect(await pauseOnce(bench, { at: "incarnations.delete", meanwhile: () => act(bench.db), act })).toBe(0);
    },
  },
];
