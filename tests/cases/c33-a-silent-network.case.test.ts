import { setTimeout as sleep } from "node:timers/promises";
import { startProxy, startReceiver, until, type Receiver } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readLeases } from "./load/read-leases.js";

/** A worker whose network is whole again takes runs within so many milliseconds. */
const backWithinMs = 15_000;

defineCase({ id: "C33", title: "a worker whose way to Postgres falls silent reaches outside no more once its lease is over, and works again soon after", fullMinutes: 3, scaledSeconds: 20 }, async (on) => {
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const env = on.pick({ MAINSTAY_LEASE_MS: "10000" }, {});
  const fleet = await on.startFleet({ ...probeFleet, workers: 0, receivers: [receiver], env });
  const proxy = await startProxy(fleet.databaseUrl);
  on.defer(() => proxy.stop());
  const way = proxy.through(fleet.databaseUrl);
  const cut = await fleet.fleet.add("worker", { env: { DATABASE_URL: way, DATABASE_DIRECT_URL: way } });
  const silentMs = on.pick(60_000, 5_000);
  const inputs = { url: receiver.url, everyMs: 100, times: Math.ceil(silentMs / 100) };
  const runIds = await Promise.all(Array.from({ length: 5 }, () => fleet.submit("probe-reach", inputs)));
  await until("every run to reach outside", () => new Set(reached(receiver, cut.pid).map(({ businessKey }) => businessKey.split(" ")[0])).size === runIds.length);
  const sessions = (await fleet.sql<{ pid: number }>("select pid from pg_stat_activity where datname = current_database() and application_name ~ 'mainstay.worker'")).map(({ pid }) => pid);
  expect(sessions.length).toBeGreaterThan(2); // its pool, its lifeline, its heartbeat
  const peer = await fleet.fleet.add("worker");

  const silentAt = performance.now();
  const offsetMs = Date.now() - silentAt;
  proxy.blackHole();
  await until("the peer to hold every run", async () => {
    const leases = await Promise.all(runIds.map((runId) => readLeases(fleet, runId)));
    return leases.every((held) => held.at(-1)?.incarnation === peer.incarnation && held.at(-1)?.lostAt === undefined);
  }, 60_000);
  await sleep(Math.max(0, silentAt + silentMs - performance.now())); // the fault's own length

  // by the database's own clock, which is this machine's
  const lapsed = await fleet.sql<{ at: Date }>("select lapsed_at as at from incarnations where id = $1", [cut.incarnation]);
  const lapsedAt = (lapsed[0]?.at.getTime() ?? Number.NaN) - offsetMs;
  const lastMs = Math.max(...reached(receiver, cut.pid).map(({ at }) => at)) - lapsedAt;
  on.measure("last effect of the silent worker", lastMs, "ms after it lapsed");
  expect(lastMs).toBeLessThan(0);
  expect(cut.exit()).toBeUndefined();

  const healed = performance.now();
  proxy.heal();
  const later: string[] = [];
  await until("the healed worker to take a run", async () => {
    later.push(await fleet.submit("probe-hold", { holdMs: 0 }));
    return fleet.begun().some(({ nodeId, pid }) => nodeId === "hold" && pid === cut.pid);
  }, backWithinMs + 5_000);
  const backMs = performance.now() - healed;
  on.measure("works again", backMs, "ms after the network is whole");
  expect(backMs).toBeLessThanOrEqual(backWithinMs);
  await until("no session of before to be left", async () => (await fleet.sql("select pid from pg_stat_activity where pid = any($1)", [sessions])).length === 0);

  expect([...(await fleet.waitEnded([...runIds, ...later], silentMs + 60_000)).values()].filter((status) => status !== "completed")).toEqual([]);
  expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
  expect(receiver.accepted().size).toBe(runIds.length * inputs.times);
  for (const runId of runIds) expect((await readLeases(fleet, runId)).map(({ incarnation }) => incarnation)).toEqual([cut.incarnation, peer.incarnation]);
});

/** What came from a process, with its business key. */
function reached(receiver: Receiver, pid: number): { at: number; businessKey: string }[] {
  return receiver.ledger().map(({ at, body }) => ({ at, ...(JSON.parse(body) as { businessKey: string; pid: number }) })).filter((one) => one.pid === pid);
}
