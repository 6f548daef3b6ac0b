import { startFleet } from "@mainstay/fleet";
import { createTestDatabase, createTestRedis } from "@mainstay/testing";
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

const SETTLE_MS = 10_000;
const WINDOW_MS = 60_000; // longer than the snapshot bound, so that an older one would be seen
const STATEMENTS_PER_SECOND = 10;
const SNAPSHOT_S = 30;

type Statement = { calls: number; query: string };

/** Every statement of this database since its beginning, the observer's own left out. */
async function statements(observer: pg.Client): Promise<Map<string, Statement>> {
  const { rows } = await observer.query<Statement & { id: string }>(
    `select s.userid::text || '/' || s.queryid::text || '/' || s.toplevel::text as id, s.calls::int as calls, s.query
     from pg_stat_statements s
     where s.dbid = (select oid from pg_database where datname = current_database())
       and s.query not like '%pg_stat_%'`,
  );
  return new Map(rows.map(({ id, calls, query }) => [id, { calls, query }]));
}

type Snapshot = { age: number; query: string };

/** The oldest snapshot that a session of this database holds now: its age in seconds, and what the session does. */
async function oldestSnapshot(observer: pg.Client): Promise<Snapshot> {
  const { rows } = await observer.query<Snapshot>(
    `select extract(epoch from clock_timestamp() - coalesce(xact_start, query_start))::float as age,
       concat_ws(' ', application_name, backend_type, state, wait_event, query) as query
     from pg_stat_activity
     where datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()
     order by age desc limit 1`,
  );
  return rows[0] ?? { age: 0, query: "none" };
}

function shortened(query: string): string {
  return query.replace(/\s+/g, " ").slice(0, 110);
}

async function observe(url: string): Promise<pg.Client> {
  const observer = new pg.Client({ connectionString: url });
  observer.on("error", () => undefined); // the next query reports it
  await observer.connect();
  await observer.query("create extension if not exists pg_stat_statements");
  return observer;
}

test.each(["redis", "none"])("an idle fleet with broker %s costs at most 10 statements a second and holds no old snapshot", async (broker) => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const redis = await createTestRedis();
  onTestFinished(() => redis.stop());
  const observer = await observe(database.url);
  onTestFinished(() => observer.end());
  const fleet = await startFleet({
    env: { PATH: process.env["PATH"], DATABASE_URL: database.url, REDIS_URL: redis.url, MAINSTAY_BROKER: broker, MAINSTAY_HOST: "127.0.0.1" },
  });
  onTestFinished(() => void fleet.stop({ withinMs: 10_000 }));

  await sleep(SETTLE_MS); // not a wait for something: the start is not part of idling
  const before = await statements(observer);
  const began = performance.now();
  let oldest: Snapshot = { age: 0, query: "none" };
  while (performance.now() - began < WINDOW_MS) {
    const seen = await oldestSnapshot(observer);
    if (seen.age > oldest.age) oldest = seen;
    await sleep(1_000);
  }
  const seconds = (performance.now() - began) / 1_000;
  const after = await statements(observer);

  const rates = [...after].map(([id, { calls, query }]) => ({ rate: (calls - (before.get(id)?.calls ?? 0)) / seconds, query }));
  const total = rates.reduce((sum, { rate }) => sum + rate, 0);
  const busiest = rates.sort((a, b) => b.rate - a.rate).slice(0, 12);
  console.log([
    `broker ${broker}: ${total.toFixed(1)} statements a second over ${seconds.toFixed(0)} s, oldest snapshot ${oldest.age.toFixed(1)} s (${shortened(oldest.query)})`,
    ...busiest.map(({ rate, query }) => `  ${rate.toFixed(2)}  ${shortened(query)}`),
  ].join("\n"));
  expect(total).toBeGreaterThan(0); // a fleet that beats is seen
  expect(total).toBeLessThanOrEqual(STATEMENTS_PER_SECOND);
  expect(oldest.age).toBeLessThan(SNAPSHOT_S);
  // it waits for every snapshot that is older than itself
  const indexing = performance.now();
  await observer.query("create index concurrently idle_probe on runs (created_at)");
  expect((performance.now() - indexing) / 1_000).toBeLessThan(SNAPSHOT_S);
  expect((await observer.query("select from pg_index where indexrelid = 'idle_probe'::regclass and indisvalid")).rowCount).toBe(1);
  await fleet.stop({ withinMs: 10_000 });
  expect(fleet.deaths()).toEqual({ "status 0": 5 });
});
