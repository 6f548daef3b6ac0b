import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase, type CaseOn } from "./lane/define-case.js";
import { boundOf } from "./load/bound-of.js";
import { holderOf } from "./load/holder-of.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readCharges } from "./load/read-charges.js";
import { readLeases } from "./load/read-leases.js";
import { createFakeClock } from "./tools/create-fake-clock.js";

const minuteMs = 60_000;

defineCase({ id: "C05", title: "clocks that disagree by minutes cost no lease and show in no stored instant", fullMinutes: 4, scaledSeconds: 18, tools: ["libfaketime"] }, async (on) => {
  await disagree(on, 1);
  if (on.scale === "full") await disagree(on, -1);
});

async function disagree(on: CaseOn, sign: 1 | -1): Promise<void> {
  const fleet = await on.startFleet({ ...probeFleet, workers: 0, supervisors: 0, env: on.pick({ MAINSTAY_LEASE_MS: "10000" }, {}) });
  const began = Date.now();
  const skewed = async (role: "worker" | "supervisor", minutes: number) => {
    const clock = await createFakeClock();
    on.defer(clock.remove);
    clock.step(sign * minutes * minuteMs);
    return fleet.fleet.add(role, { env: clock.environment });
  };
  const a = await skewed("worker", 5);
  await skewed("worker", -5);
  await skewed("supervisor", 2);
  const said = Date.parse(String(a.lines().find(({ event }) => event?.["msg"] === "process ready")?.event?.["time"])); // it truly lives on that clock
  expect(Math.abs(said - Date.now() - sign * 5 * minuteMs)).toBeLessThan(30_000);

  const count = on.pick(100, 40);
  const runIds = await Promise.all(Array.from({ length: count }, () => fleet.submit("probe-hold", { holdMs: on.pick(30_000, 3_000) })));
  expect([...(await fleet.waitEnded(runIds, 180_000)).values()].filter((status) => status !== "completed")).toEqual([]);
  expect(await readCharges(fleet)).toMatchObject({ claims: count, crashes: 0, losses: 0, reclaims: 0 });

  // one run after the other, until A holds one
  const last = await until("a run on the worker to be killed", async () => {
    const runId = await fleet.submit("probe-hold", { holdMs: on.pick(30_000, 3_000) });
    return (await holderOf(fleet, runId)).pid === a.pid ? runId : undefined;
  }, minuteMs);
  const killed = Date.now();
  await a.kill("SIGKILL");
  const next = await until("the peer to hold the run", async () => (await readLeases(fleet, last))[1], minuteMs);
  on.measure(`takeover with A ${sign > 0 ? "ahead" : "behind"}`, next.from - killed, "ms");
  on.tell(`taken over after ${String(next.from - killed)} ms`);
  expect(next.from - killed).toBeLessThanOrEqual((await boundOf(fleet, "leased")) + 1_000);
  await until("every run to end", async () => (await fleet.sql("select id from runs where status <> 'completed'")).length === 0, 120_000);
  expect(await readCharges(fleet)).toMatchObject({ reclaims: 1 });
  expect(new Set(fleet.begun().map(({ pid }) => pid)).size).toBe(2); // either clock has executed

  const ended = Date.now();
  const odd = await fleet.sql<{ place: string; at: Date }>(
    `select * from (
       select 'created' as place, created_at as at from runs union all select 'started', started_at from runs union all select 'finished', finished_at from runs
       union all select type, at from run_events union all select 'beat', beat_at from incarnations union all select 'begun', started_at from incarnations
       union all select 'lapsed', lapsed_at from incarnations
     ) stored where at not between $1::timestamptz - interval '1 s' and $2::timestamptz + interval '1 s'`, [new Date(began), new Date(ended)]);
  expect(odd).toEqual([]);
  expect(await fleet.sql("select id from runs where not created_at <= started_at or not started_at <= finished_at")).toEqual([]);
}
