import { Redis } from "ioredis";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase, createTestRedis, startOwnPostgres, startOwnRedis, until } from "../src/index.js";

async function names(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public'");
    return rows.map((row) => row.name);
  } finally {
    await client.end();
  }
}

test("two test databases are migrated, distinct, and gone once dropped", async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  expect(one.url).not.toBe(two.url);
  expect(await names(one.url)).toContain("_prisma_migrations");
  expect(await names(two.url)).toContain("runs");
  await Promise.all([one.drop(), two.drop()]);
  await expect(names(one.url)).rejects.toThrow("does not exist");
});

test("a test Redis sees nothing of another and its flush leaves the other alone", async () => {
  const [one, two] = [await createTestRedis(), await createTestRedis()];
  const [first, second] = [new Redis(one.url), new Redis(two.url)];
  onTestFinished(async () => {
    first.disconnect();
    second.disconnect();
    await Promise.all([one.stop(), two.stop()]);
  });
  await first.set("key", "first");
  await second.set("key", "second");
  await one.flush();
  expect(await first.get("key")).toBeNull();
  expect(await second.get("key")).toBe("second");
});

test("a Redis of one's own can be paused, killed and started again on its port", async () => {
  const own = await startOwnRedis();
  onTestFinished(() => own.stop());
  const session = new Redis(own.url, { commandTimeout: 300, maxRetriesPerRequest: null });
  session.on("error", () => undefined);
  onTestFinished(() => session.disconnect());
  await session.set("key", "value");
  own.pause();
  await expect(session.get("key")).rejects.toThrow("timed out");
  own.resume();
  expect(await until("an answer", () => session.get("key"))).toBe("value");
  await own.kill();
  await own.start();
  expect(await until("an empty server", async () => ((await session.get("key")) === null ? "empty" : false))).toBe("empty");
});

test("a Postgres of one's own keeps what was committed over a crash", async () => {
  const own = await startOwnPostgres();
  onTestFinished(() => own.stop());
  const database = await createTestDatabase({ serverUrl: own.url });
  const before = await names(database.url);
  await own.crash();
  await expect(names(database.url)).rejects.toThrow();
  await own.start();
  expect((await names(database.url)).sort()).toEqual(before.sort());
});

test("the bootstrap's Postgres has room for a fleet, counts statements and cleans small tables often", async () => {
  const own = await startOwnPostgres();
  onTestFinished(() => own.stop());
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  const setting = async (name: string): Promise<unknown> => (await client.query<{ value: unknown }>("select current_setting($1) as value", [name])).rows[0]?.value;
  expect(await setting("max_connections")).toBe("300");
  expect(await setting("autovacuum_naptime")).toBe("10s");
  await client.query("create extension pg_stat_statements");
  expect((await client.query("select from pg_stat_statements limit 1")).rowCount).toBe(1);
  client.on("error", () => undefined); // the server is stopped under it
});
