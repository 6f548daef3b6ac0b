import { entryOf, launchProcess } from "@mainstay/fleet";
import { until } from "@mainstay/testing";
import pg from "pg";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readCharges } from "./load/read-charges.js";

defineCase({ id: "C06", title: "a saturated pool costs no lease, and one that is too small is refused at the start", fullMinutes: 3, scaledSeconds: 15 }, async (on) => {
  const holdMs = on.pick(60_000, 6_000);
  const fleet = await on.startFleet({ ...probeFleet, env: { MAINSTAY_DB_POOL: "5", MAINSTAY_SLOTS: "5", ...on.pick({ MAINSTAY_LEASE_MS: "10000" }, {}) } });

  on.tell("every slot keeps a connection of its own busy");
  const queries = await Promise.all(Array.from({ length: 5 }, () => fleet.submit("probe-sql", { holdMs })));
  await until("every slow statement to run", () => fleet.begun().filter(({ nodeId }) => nodeId === "query").length === 5);
  expect(await fleet.waitEnded(queries, holdMs + 30_000)).toEqual(new Map(queries.map((id) => [id, "completed"])));
  expect(await readCharges(fleet)).toMatchObject({ claims: 5, crashes: 0, losses: 0, reclaims: 0 });

  on.tell("every write of a worker waits for a table that another session has locked, while its nodes end");
  const runIds = await Promise.all(Array.from({ length: 10 }, () => fleet.submit("probe-hold", { holdMs: on.pick(3_000, 1_000) })));
  await until("every node to begin", () => fleet.begun().filter(({ nodeId }) => nodeId === "hold").length === 10);
  const locker = new pg.Client({ connectionString: fleet.databaseUrl, application_name: "locker" });
  await locker.connect();
  on.defer(() => locker.end());
  await locker.query("begin");
  await locker.query("lock table run_events in share row exclusive mode");
  let most = 0;
  const lockedUntil = performance.now() + holdMs;
  while (performance.now() < lockedUntil) {
    const [row] = await fleet.sql<{ waiting: number }>("select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and application_name like 'mainstay-worker%'");
    most = Math.max(most, row?.waiting ?? 0);
    await locker.query("select pg_sleep(0.2)");
  }
  await locker.query("commit");
  on.measure("statements of workers that waited at once", most);
  expect(most).toBeGreaterThan(0);
  expect(await fleet.waitEnded(runIds, 60_000)).toEqual(new Map(runIds.map((id) => [id, "completed"])));
  expect(await readCharges(fleet)).toMatchObject({ claims: 15, crashes: 0, losses: 0, reclaims: 0 });

  for (const pool of ["1", "2"]) {
    const refused = launchProcess({ role: "worker", entry: entryOf("worker"), env: { ...fleet.env, MAINSTAY_DB_POOL: pool, MAINSTAY_PORT: "0" } });
    await expect(refused).rejects.toThrow(/MAINSTAY_DB_POOL.*at least 3/s);
  }
});
