import { createTestDatabase, startOwnPostgres, startReceiver } from "@mainstay/testing";
import pg from "pg";
import { expect } from "vitest";
import { defineCase, type CaseFleet, type CaseOn } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";

/** Every fifth statement that claims, renews or finishes fails as for contention; the sequences count what a rollback forgets. */
const injection = `
  create sequence injection_tries; create sequence injection_failures;
  create function inject() returns trigger language plpgsql as $$
  begin
    perform nextval('injection_tries');
    if random() < 0.2 then
      perform nextval('injection_failures');
      if random() < 0.5 then raise exception 'injected' using errcode = '40001'; end if;
      raise exception 'injected' using errcode = '40P01';
    end if;
    return null;
  end $$;
  create trigger inject before update on runs for each statement execute function inject();
  create trigger inject before update on incarnations for each statement execute function inject();
  create trigger inject before insert on outbox for each statement execute function inject()`;

defineCase({ id: "C34", title: "a database that is serializable by default, then one that refuses every fifth statement for contention, leaves no run stuck", fullMinutes: 4, scaledSeconds: 25 }, async (on) => {
  const server = await startOwnPostgres();
  on.defer(() => server.stop());
  const database = await createTestDatabase({ serverUrl: server.url });
  await asOwner(database.url, `alter database "${new URL(database.url).pathname.slice(1)}" set default_transaction_isolation = 'serializable'`);
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ ...probeFleet, databaseUrl: database.url, workers: on.pick(20, 4), receivers: [receiver] });

  await failTogether(on, fleet);
  const [seen] = await fleet.sql<{ deadlocks: number }>("select deadlocks::int from pg_stat_database where datname = current_database()");
  expect(seen?.deadlocks).toBe(0);
  on.tell("without injection: no deadlock");

  await asOwner(database.url, injection);
  await failTogether(on, fleet);
  const orders = await Promise.all(Array.from({ length: on.pick(100, 10) }, () => fleet.submit("probe-order", { url: receiver.url, beforeMs: 100, afterMs: 100 })));
  expect([...(await fleet.waitEnded(orders, 60_000)).values()].filter((status) => status !== "completed")).toEqual([]);
  expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
  const [injected] = await fleet.sql<{ tries: number; failures: number }>("select (select last_value::int from injection_tries) as tries, (select last_value::int from injection_failures) as failures");
  on.measure("statements refused", `${String(injected?.failures)} of ${String(injected?.tries)}`);
  expect(injected?.failures).toBeGreaterThan(on.pick(100, 5)); // a fifth of some hundred tries, by chance
  // one more try for a statement that was refused, not a storm of them
  const [work] = await fleet.sql<{ claims: number; checkpoints: number }>("select sum(claims)::int as claims, sum(checkpoint_no)::int as checkpoints from runs");
  expect(injected?.tries).toBeLessThan(20 * ((work?.claims ?? 0) + (work?.checkpoints ?? 0)));
  expect(await fleet.sql("select id from incarnations where lapsed_at is not null")).toEqual([]);
  await asOwner(database.url, "drop trigger inject on runs; drop trigger inject on incarnations; drop trigger inject on outbox");
});

/** Runs whose ten nodes fail in one instant: each fails once, with one dead letter. */
async function failTogether(on: CaseOn, fleet: CaseFleet): Promise<void> {
  const runIds = await Promise.all(Array.from({ length: on.pick(200, 20) }, () => fleet.submit("probe-crowd", {})));
  expect([...(await fleet.waitEnded(runIds, 90_000)).values()].filter((status) => status !== "failed")).toEqual([]);
  const ids = runIds.map((runId) => runId.slice(runId.lastIndexOf("/") + 1));
  const told = await fleet.sql<{ ends: number; letters: number }>(
    `select (select count(*)::int from run_events where run_id = any($1::uuid[]) and type = 'run.failed') as ends,
       (select count(*)::int from dead_letters where run_id = any($1::uuid[]) and scope = 'run') as letters`, [ids]);
  expect(told).toEqual([{ ends: runIds.length, letters: runIds.length }]);
  expect(await fleet.sql("select id from runs where claims <> 1")).toEqual([]);
}

async function asOwner(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
