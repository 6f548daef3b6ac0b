import { expect } from "vitest";
import { capRuns, prepareLanes, renewLanes, stampPositions, yieldLanes, type Queryable } from "../../src/index.js";
import { beginWorker, completionOf, hold, progress, rowOf } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

const renewOn = (db: Queryable, holder: string) => renewLanes(db, { holder, names: ["release"], leaseMs: 15_000, succeeded: [], stopGraceMs: 2_000 });

export const lanes: readonly Scenario[] = [
  {
    of: "lanes.renew", holds: "a lane that another replica took meanwhile is not held twice",
    show: async (bench) => {
      const [mine, other] = [await beginWorker(bench.db), await beginWorker(bench.db)];
      await prepareLanes(bench.db, ["release"]);
      const view = await pauseOnce(bench, { at: "lanes.renew", meanwhile: () => renewOn(bench.db, other), act: (db) => renewOn(db, mine) });
      expect(view.lanes).toMatchObject([{ name: "release", held: false }]);
      expect(await bench.sql("select holder, token from lanes")).toEqual([{ holder: other, token: "1" }]);
    },
  },
  {
    of: "lanes.yield", holds: "a lane that another replica took meanwhile stays with it",
    show: async (bench) => {
      const [mine, other] = [await beginWorker(bench.db), await beginWorker(bench.db)];
      await prepareLanes(bench.db, ["release"]);
      await renewOn(bench.db, mine);
      const yielded = await pauseOnce(bench, {
        at: "lanes.yield", act: (db) => yieldLanes(db, mine),
        meanwhile: async () => {
          await bench.sql("update lanes set until = now() - interval '1 second'");
          await renewOn(bench.db, other);
        },
      });
      expect(yielded).toBe(0);
      expect(await bench.sql("select holder, until > now() as held from lanes")).toEqual([{ holder: other, held: true }]);
    },
  },
  {
    of: "lanes.cap_runs", holds: "a run that ended meanwhile gets no deadline",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      await bench.sql("update runs set created_at = now() - interval '1 hour'");
      const page = await pauseOnce(bench, {
        at: "lanes.cap_runs", meanwhile: () => progress(bench.db, completionOf(held)),
        act: (db) => capRuns(db, { after: "00000000-0000-0000-0000-000000000000", capMs: -60_000 }),
      });
      expect(page).toMatchObject({ seen: 1, capped: 0 });
      expect(await rowOf(bench, held.runId)).toMatchObject({ status: "completed", deadline_at: null });
    },
  },
  {
    of: "ops_events.stamp", holds: "positions that another replica gave meanwhile stay as they are, dense and unique",
    show: async (bench) => {
      await bench.sql("insert into ops_events (type, data) select 'told', '{}' from generate_series(1, 5)");
      const act = (db: Queryable) => stampPositions(db);
      expect([0, undefined]).toContain(await pauseOnce(bench, { at: "ops_events.stamp", meanwhile: () => act(bench.db), act }));
      expect(await bench.sql("select array_agg(position::int order by position) as positions from ops_events")).toEqual([{ positions: [1, 2, 3, 4, 5] }]);
    },
  },
];
