import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { noteAsk, relaunchEffect, takeOver, type EffectLaunch, type Queryable } from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { beginWorker, claim, completionOf, hold, lapse, launch, launchOf, limits, parkingOf, progress, rowOf, settle, sha256 } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

type Held = Awaited<ReturnType<typeof hold>>;

async function launched(bench: Bench, more: Partial<EffectLaunch> = {}): Promise<{ held: Held; row: EffectLaunch }> {
  const held = await hold(bench.db, await beginWorker(bench.db));
  const row = launchOf(held, more);
  expect(await launch(bench.db, row)).toMatchObject({ kind: "launched", launchNo: 1 });
  return { held, row };
}

/** The holder dies and the run is released. */
async function loses(bench: Bench, held: Held): Promise<void> {
  await lapse(bench, held.owner);
  await takeOver(bench.db, { incarnations: [held.owner], limits });
}

const evidence = (row: EffectLaunch, outcome: "confirmed" | "absent" = "confirmed") =>
  ({ effectId: row.effectId, launchNo: 1, runId: row.runId, outcome, via: "answer" as const, answer: { ok: true } });

const again = (db: Queryable, row: EffectLaunch, seen: { effectId: string; launchNo: number; state: string; ownLaunch: boolean }) =>
  relaunchEffect(db, { ...row, launchId: randomUUID() }, seen);

/** A settled-absent effect as its own holder sees it. */
async function absent(bench: Bench) {
  const { held, row } = await launched(bench);
  await settle(bench.db, evidence(row, "absent"));
  return { held, row, seen: { effectId: row.effectId, launchNo: 1, state: "absent", ownLaunch: true } };
}

export const effects: readonly Scenario[] = [
  {
    of: "effects.launch", holds: "a holder that lost the run meanwhile launches nothing",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "effects.launch", meanwhile: () => loses(bench, held), act: (db) => launch(db, launchOf(held)) });
      expect(answer).toEqual({ kind: "fenced" });
      expect(await bench.sql("select from effects")).toEqual([]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ open_effects: 0 });
    },
  },
  {
    of: "effects.launch", holds: "a run that ended meanwhile launches nothing",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, { at: "effects.launch", meanwhile: () => progress(bench.db, completionOf(held)), act: (db) => launch(db, launchOf(held)) });
      expect(answer).toEqual({ kind: "fenced" });
      expect(await bench.sql("select from effects")).toEqual([]);
    },
  },
  {
    of: "effects.launch", holds: "an identity that another run launched meanwhile is recorded, and open for that run alone",
    show: async (bench) => {
      const [mine, other] = [await hold(bench.db, await beginWorker(bench.db)), await hold(bench.db, await beginWorker(bench.db))];
      const identity = sha256("business key");
      const answer = await pauseOnce(bench, { at: "effects.launch", meanwhile: () => launch(bench.db, launchOf(other, { identity })), act: (db) => launch(db, launchOf(mine, { identity })) });
      expect(answer).toMatchObject({ kind: "recorded", effect: { state: "launched", ownLaunch: false, holderGone: false } });
      expect(await rowOf(bench, mine.runId)).toMatchObject({ open_effects: 0 });
      expect(await rowOf(bench, other.runId)).toMatchObject({ open_effects: 1 });
    },
  },
  {
    of: "effects.launch", holds: "the same launch that was stored meanwhile is stored once, and nothing of it may be sent any more",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const row = launchOf(held);
      const answer = await pauseOnce(bench, { at: "effects.launch", meanwhile: () => launch(bench.db, row), act: (db) => launch(db, row) });
      expect(answer).toMatchObject({ kind: "launched", effectId: row.effectId, sentAt: Number.NEGATIVE_INFINITY });
      expect(await rowOf(bench, held.runId)).toMatchObject({ open_effects: 1 });
    },
  },
  {
    of: "effects.relaunch", holds: "a holder that lost the run meanwhile launches nothing again",
    show: async (bench) => {
      const { held, row, seen } = await absent(bench);
      const answer = await pauseOnce(bench, { at: "effects.relaunch", meanwhile: () => loses(bench, held), act: (db) => again(db, row, seen) });
      expect(answer).toEqual({ kind: "fenced" });
      expect(await bench.sql("select state, launch_no from effects")).toEqual([{ state: "absent", launch_no: 1 }]);
    },
  },
  {
    of: "effects.relaunch", holds: "an effect that was confirmed meanwhile is read again, not sent again",
    show: async (bench) => {
      const { held, row } = await launched(bench, { class: "idempotent_write", keyRetentionMs: 60_000 });
      await loses(bench, held);
      const peer = await beginWorker(bench.db);
      const { fence } = await claim(bench.db, peer, held.runId);
      const answer = await pauseOnce(bench, {
        at: "effects.relaunch", meanwhile: () => settle(bench.db, evidence(row)),
        act: (db) => again(db, { ...row, owner: peer, fence }, { effectId: row.effectId, launchNo: 1, state: "launched", ownLaunch: true }),
      });
      expect(answer).toEqual({ kind: "changed" });
      expect(await bench.sql("select state, launch_no from effects")).toEqual([{ state: "confirmed", launch_no: 1 }]);
    },
  },
  {
    of: "effects.relaunch", holds: "an effect that another launched again meanwhile is launched once",
    show: async (bench) => {
      const { row, seen } = await absent(bench);
      const other = await hold(bench.db, await beginWorker(bench.db));
      const answer = await pauseOnce(bench, {
        at: "effects.relaunch", act: (db) => again(db, row, seen),
        meanwhile: async () => { expect(await again(bench.db, { ...row, runId: other.runId, owner: other.owner, fence: other.fence }, { ...seen, ownLaunch: false })).toMatchObject({ kind: "launched", launchNo: 2 }); },
      });
      expect(answer).toEqual({ kind: "changed" });
      expect(await bench.sql("select launch_no, run_id from effects")).toEqual([{ launch_no: 2, run_id: other.runId }]);
      expect(await rowOf(bench, row.runId)).toMatchObject({ open_effects: 0 });
    },
  },
  {
    of: "effects.relaunch", holds: "the same relaunch that was stored meanwhile is made once, and nothing of it may be sent any more",
    show: async (bench) => {
      const { row, seen } = await absent(bench);
      const act = (db: Queryable) => relaunchEffect(db, { ...row, launchId: "00000000-0000-4000-8000-000000000007" }, seen);
      const answer = await pauseOnce(bench, { at: "effects.relaunch", meanwhile: () => act(bench.db), act });
      expect(answer).toMatchObject({ kind: "launched", launchNo: 2, sentAt: Number.NEGATIVE_INFINITY });
      expect(await bench.sql("select launch_no, state from effects")).toEqual([{ launch_no: 2, state: "launched" }]);
      expect(await rowOf(bench, row.runId)).toMatchObject({ open_effects: 1 });
    },
  },
  {
    of: "effects.settle", holds: "a takeover meanwhile does not refuse the evidence, and the open effects fall once",
    show: async (bench) => {
      const { held, row } = await launched(bench);
      const answer = await pauseOnce(bench, { at: "effects.settle", meanwhile: () => loses(bench, held), act: (db) => settle(db, evidence(row)) });
      expect(answer).toEqual({ kind: "settled" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ owner: null, status: "running", fence: "2", open_effects: 0 });
    },
  },
  {
    of: "effects.settle", holds: "the same evidence that came meanwhile lowers the open effects once",
    show: async (bench) => {
      const { held, row } = await launched(bench);
      await launch(bench.db, launchOf(held));
      const answer = await pauseOnce(bench, { at: "effects.settle", meanwhile: () => settle(bench.db, evidence(row)), act: (db) => settle(db, evidence(row)) });
      expect(answer).toEqual({ kind: "known" });
      expect(await rowOf(bench, held.runId)).toMatchObject({ open_effects: 1 });
    },
  },
  {
    of: "effects.settle", holds: "evidence about an earlier launch does not settle the one that was made meanwhile",
    show: async (bench) => {
      const { held, row } = await launched(bench, { class: "idempotent_write", keyRetentionMs: 60_000 });
      const answer = await pauseOnce(bench, {
        at: "effects.settle", act: (db) => settle(db, evidence(row, "absent")),
        meanwhile: () => again(bench.db, row, { effectId: row.effectId, launchNo: 1, state: "launched", ownLaunch: true }),
      });
      expect(answer).toEqual({ kind: "known" });
      expect(await bench.sql("select state, launch_no from effects")).toEqual([{ state: "launched", launch_no: 2 }]);
      expect(await rowOf(bench, held.runId)).toMatchObject({ open_effects: 1 });
    },
  },
  {
    of: "effects.settle", holds: "a run that parked on the effect meanwhile keeps its own due time",
    show: async (bench) => {
      const { row } = await launched(bench);
      const waiter = await hold(bench.db, await beginWorker(bench.db));
      await pauseOnce(bench, { at: "effects.settle", meanwhile: () => progress(bench.db, parkingOf(waiter, { effectId: row.effectId })), act: (db) => settle(db, evidence(row)) });
      expect(await bench.sql("select waiting_on, due_at is not null as due from runs where id = $1", [waiter.runId])).toEqual([{ waiting_on: "effect", due: true }]);
    },
  },
  {
    of: "effects.settle", holds: "a waiting run that was claimed meanwhile is left to its holder",
    show: async (bench) => {
      const { row } = await launched(bench);
      const waiter = await hold(bench.db, await beginWorker(bench.db));
      await progress(bench.db, parkingOf(waiter, { effectId: row.effectId }));
      await bench.sql("update runs set due_at = now() where id = $1", [waiter.runId]);
      await bench.sql("update run_nodes set due_at = now() where run_id = $1", [waiter.runId]);
      const peer = await beginWorker(bench.db);
      await pauseOnce(bench, { at: "effects.settle", meanwhile: () => claim(bench.db, peer, waiter.runId), act: (db) => settle(db, evidence(row)) });
      expect(await rowOf(bench, waiter.runId)).toMatchObject({ owner: peer, status: "running" });
      expect(await bench.sql("select status from run_nodes where run_id = $1", [waiter.runId])).toEqual([{ status: "started" }]);
    },
  },
  {
    of: "effects.note_ask", holds: "a question whose effect was settled meanwhile is not counted",
    show: async (bench) => {
      const { row } = await launched(bench);
      const asks = await pauseOnce(bench, { at: "effects.note_ask", meanwhile: () => settle(bench.db, evidence(row)), act: (db) => noteAsk(db, { effectId: row.effectId, launchNo: 1 }) });
      expect(asks).toBeUndefined();
    },
  },
];
