import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase, type CaseOn } from "./lane/define-case.js";
import { boundOf } from "./load/bound-of.js";
import { probeFleet } from "./load/probe-fleet.js";

/** One sweep: the period of the lane `release`, and the workers' own. */
const sweepMs = 2_000 + 500;

defineCase({ id: "C07", title: "orphans come back although whoever hands them over loses every session in the middle of it", fullMinutes: 3, scaledSeconds: 25 }, async (on) => {
  await comesBack(on, { peers: "at once" });
  if (on.scale === "full") await comesBack(on, { peers: "afterwards" });
});

/** With peers at once they help; without, nobody whose sessions stay whole is there until the cuts are over. */
async function comesBack(on: CaseOn, { peers }: { peers: "at once" | "afterwards" }): Promise<void> {
  const each = on.pick(50, 20);
  const fleet = await on.startFleet({ ...probeFleet, workers: 4, times: "default", env: { MAINSTAY_SLOTS: String(each) } });
  const [supervisor] = fleet.fleet.of("supervisor");
  const runIds = await Promise.all(Array.from({ length: 4 * each }, () => fleet.submit("probe-hold", { holdMs: on.pick(10_000, 5_000) })));
  await until("four workers to hold them all", () => fleet.begun().length === 4 * each, 30_000);
  const dead = fleet.fleet.of("worker");
  const incarnations = dead.map(({ incarnation }) => incarnation);
  await Promise.all(dead.map((one) => one.kill("SIGKILL")));

  const fresh = async () => Promise.all([1, 2].map(() => fleet.fleet.add("worker", { env: { MAINSTAY_SLOTS: String(2 * each) } })));
  const early = peers === "at once" ? fresh() : undefined;
  let cut = 0;
  const cutUntil = performance.now() + 2 * sweepMs;
  while (performance.now() < cutUntil) {
    const [row] = await fleet.sql<{ cut: number }>(
      `select count(pg_terminate_backend(pid))::int as cut from pg_stat_activity
       where datname = current_database() and application_name ~ $1`, [peers === "at once" ? "^mainstay.supervisor" : "^mainstay"]);
    cut += row?.cut ?? 0;
    await sleep(200);
  }
  const calm = Date.now();
  on.measure(`sessions cut, peers ${peers}`, cut);
  expect(cut).toBeGreaterThan(10);
  const added = early ?? fresh();
  let most = 0;
  const boundMs = 3 * sweepMs + (await boundOf(fleet, "leased"));
  await until("every orphan to be resumed", async () => {
    const crowds = await fleet.sql<{ runs: number }>("select count(*)::int as runs from runs where owner is not null and owner <> all($1::uuid[]) group by owner", [incarnations]);
    most = Math.max(most, ...crowds.map(({ runs }) => runs));
    const [row] = await fleet.sql<{ resumed: number }>("select count(*)::int as resumed from runs where claims >= 2");
    return row?.resumed === 4 * each;
  }, boundMs + 30_000);
  await added;
  const [last] = await fleet.sql<{ at: Date }>("select max(at) as at from run_events where type = 'lease.acquired'");
  const resumedMs = (last?.at.getTime() ?? Infinity) - calm;
  on.measure(`last orphan resumed after the last cut, peers ${peers}`, resumedMs, "ms");
  on.tell(`${String(cut)} sessions cut; the last orphan was resumed ${String(resumedMs)} ms after that`);
  expect(resumedMs).toBeLessThanOrEqual(boundMs);
  expect(most).toBeLessThanOrEqual(2 * each);
  expect([...(await fleet.waitEnded(runIds, 60_000)).values()].filter((status) => status !== "completed")).toEqual([]);
  expect(supervisor?.exit()).toBeUndefined();
  expect(await fleet.sql("select id from runs where claims <> 2")).toEqual([]); // each was handed over once
}
