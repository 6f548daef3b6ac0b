import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase, startOwnPostgres, until, type OwnPostgres } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFakeClock, type FakeClock } from "../cases/tools/create-fake-clock.js";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";

const workers = 3;
const processes = workers + 3;
const minutes = (count: number): number => count * 60_000;

let clock: FakeClock;
let server: OwnPostgres;
let chaos: ChaosFleet;
beforeAll(async () => {
  clock = await createFakeClock();
  server = await startOwnPostgres({ environment: clock.environment });
  const database = await createTestDatabase({ serverUrl: server.url });
  chaos = await startChaosFleet({ name: "healthy-holders", databaseUrl: database.url, workers, times: "default" });
});
afterAll(async () => {
  await chaos.stop();
  await server.stop();
  clock.remove();
});

/** Keeps every worker busy until it is ended: runs that stay inside one node, and a stream of orders with an effect each. */
function keepBusy(): { end: () => Promise<readonly string[]> } {
  const accepted: Promise<string>[] = [];
  let ended = false;
  const stream = (async () => {
    for (let index = 0; !ended; index++) {
      if (index % 40 === 0) {
        for (let held = 0; held < 6; held++) accepted.push(chaos.submit("chaos-hold", { holdMs: 12_000 }));
      }
      accepted.push(chaos.submit("chaos-order", { url: chaos.receiver.url, businessKey: `healthy-${accepted.length}`, firstMs: 300, lastMs: 300 }));
      await sleep(250);
    }
  })();
  return {
    end: async () => {
      ended = true;
      await stream;
      return Promise.all(accepted);
    },
  };
}

/** Sessions that hold a lifeline's lock. */
async function lifelines(): Promise<number[]> {
  const rows = await chaos.sql<{ pid: number }>(
    "select distinct a.pid from pg_stat_activity a join pg_locks l on l.pid = a.pid and l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock' where a.application_name like 'mainstay % lifeline %'");
  return rows.map(({ pid }) => pid);
}

async function allLifelines(): Promise<number[]> {
  return until(`${processes} lifelines`, async () => {
    const held = await lifelines();
    return held.length === processes ? held : undefined;
  }, 15_000);
}

/** Every worker is inside some run's node: there is something to lose. */
async function allBusy(): Promise<void> {
  await until("every worker to hold a run", async () => {
    const [row] = await chaos.sql<{ holders: number }>("select count(distinct owner)::int as holders from runs where owner is not null");
    return row?.holders === workers;
  });
}

/** Nobody was taken from, charged, lapsed or ended. */
async function expectUntouched(): Promise<void> {
  expect(await chaos.sql("select id, role, lapsed_trigger, (extract(epoch from lapsed_at - beat_at))::int as silent_s from incarnations where lapsed_at is not null")).toEqual([]);
  expect(await chaos.sql("select run_id, type, payload from run_events where type in ('lease.lost', 'workflow.restored')")).toEqual([]);
  expect(await chaos.sql("select id, crashes, losses, hand_backs from runs where crashes + losses + hand_backs > 0")).toEqual([]);
  expect(chaos.fleet.deaths()).toEqual({});
}

/** Two leases, in which a silence that was made up would have been acted upon. */
const settle = (): Promise<void> => sleep(2 * 3_000);

test("no healthy holder loses anything while Postgres restarts, lifelines are cut and the server's clock is stepped", async () => {
  const load = keepBusy();
  await allLifelines();

  for (const [awayMs, end] of [[100, "halt"], [2_000, "crash"], [10_000, "halt"]] as const) {
    await allBusy();
    await server[end]();
    await sleep(awayMs);
    await server.start();
    await allLifelines();
    await settle();
    await expectUntouched();
  }

  for (let round = 0; round < 20; round++) {
    await allBusy();
    const held = await allLifelines();
    await chaos.sql("select pg_terminate_backend(pid) from unnest($1::int[]) as t(pid)", [held]);
  }
  for (let round = 0; round < 20; round++) {
    const held = await allLifelines();
    await chaos.sql("select pg_terminate_backend($1)", [held[round % held.length]]);
  }
  await settle();
  await expectUntouched();

  for (const offsetMs of [minutes(5), 0, -minutes(5), 0]) {
    await allBusy();
    clock.step(offsetMs);
    await settle();
    await expectUntouched();
  }

  const runIds = await load.end();
  clock.step(minutes(6)); // what fell due on a clock that was ahead is due at last
  await expectCompleted(chaos, runIds, 60_000);
  await expectUntouched();
  await checkStanding(chaos, runIds);
}, 240_000);
