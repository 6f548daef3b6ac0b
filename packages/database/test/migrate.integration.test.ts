import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { findBackend, until } from "@mainstay/testing";
import pg from "pg";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { migrate } from "../src/migrate/migrate.js";

let url: string;
let dir: string;

beforeEach(async ({ onTestFinished: afterwards }) => {
  const server = new URL((await findBackend()).databaseUrl);
  server.pathname = `/mainstay_test_${Math.floor(Date.now() / 1000)}_${randomBytes(5).toString("hex")}`;
  url = String(server);
  dir = mkdtempSync(path.join(tmpdir(), "mainstay-migrations-"));
  afterwards(async () => {
    rmSync(dir, { recursive: true, force: true });
    const name = server.pathname.slice(1);
    server.pathname = "/postgres";
    await query(String(server), `drop database if exists ${name} with (force)`);
  });
});

function write(name: string, sql: string): void {
  mkdirSync(path.join(dir, name), { recursive: true });
  writeFileSync(path.join(dir, name, "migration.sql"), sql);
}

async function query<Row extends object>(where: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const unfinished = "select migration_name from _prisma_migrations where finished_at is null and rolled_back_at is null";

test("eight racing runners on a missing database apply each file exactly once", async () => {
  write("0001_one", "create table one (id int); select pg_sleep(0.2);");
  write("0002_two", "create table two (id int); insert into two values (1);");
  const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(url, dir)));
  expect(applied.flat().sort()).toEqual(["0001_one", "0002_two"]);
  expect(await query(url, "select * from two")).toHaveLength(1);
  expect(await query(url, "select * from _prisma_migrations where finished_at is not null")).toHaveLength(2);
  expect(await migrate(url, dir)).toEqual([]);
});

test("a runner whose session is killed within a file leaves nothing of it and the next one applies it", async () => {
  write("0001_slow", "create table half (id int); select pg_sleep(30);");
  const first = migrate(url, dir).catch((error: unknown) => error);
  const victim = await until("the runner inside its file", async () => {
    const rows = await query<{ pid: number }>(url, "select pid from pg_stat_activity where datname = current_database() and query like '%pg_sleep(30)%' and pid <> pg_backend_pid()");
    return rows[0]?.pid;
  });
  await query(url, `select pg_terminate_backend(${victim})`);
  expect(await first).toBeInstanceOf(Error);
  expect(await query(url, "select to_regclass('half') as half")).toEqual([{ half: null }]);
  expect(await query(url, unfinished)).toHaveLength(1);

  write("0001_slow", "create table half (id int);");
  expect(await migrate(url, dir)).toEqual(["0001_slow"]);
  expect(await query(url, unfinished)).toEqual([]);
});

test("a file that was edited after it was applied is refused and nothing later is applied", async () => {
  write("0001_one", "create table one (id int);");
  await migrate(url, dir);
  write("0001_one", "create table one (id bigint);");
  write("0002_two", "create table two (id int);");
  await expect(migrate(url, dir)).rejects.toThrow("0001_one was edited after it was applied: restore it and add a new one");
  expect(await query(url, "select to_regclass('two') as two")).toEqual([{ two: null }]);
});

test("a file that failed leaves nothing, is refused as it is, and applied once corrected", async () => {
  write("0001_bad", "create table one (id int); select 1 / 0;");
  await expect(migrate(url, dir)).rejects.toThrow("0001_bad: division by zero");
  expect(await query(url, "select to_regclass('one') as one")).toEqual([{ one: null }]);
  await expect(migrate(url, dir)).rejects.toThrow("failed before and left nothing: correct it");
  write("0001_bad", "create table one (id int);");
  expect(await migrate(url, dir)).toEqual(["0001_bad"]);
});

test("an index is built concurrently while another runner waits, and an INVALID leftover is built anew", async () => {
  write("0001_table", "create table items (id int); insert into items values (1), (1);");
  await migrate(url, dir);
  await query(url, "create unique index concurrently items_id on items (id)").catch(() => undefined);
  expect(await query(url, "select 1 from pg_index where not indisvalid")).toHaveLength(1);
  await query(url, "delete from items");

  write("0002_index", "create unique index concurrently if not exists items_id on items (id);");
  const applied = await Promise.all([migrate(url, dir), migrate(url, dir), migrate(url, dir)]);
  expect(applied.flat()).toEqual(["0002_index"]);
  expect(await query(url, "select 1 from pg_index where not indisvalid")).toEqual([]);
});

test("a concurrent statement that is not alone in its file, and a file with a commit, are refused before any session", async () => {
  write("0001_pair", "create index concurrently if not exists a on t (id); select 1;");
  await expect(migrate(url, dir)).rejects.toThrow("must be alone in its file");
  write("0001_pair", "create table one (id int); commit;");
  await expect(migrate(url, dir)).rejects.toThrow("begin and commit belong to the runner");
  write("0001_pair", "create function f() returns int language plpgsql as $$ begin return 1; end $$;");
  expect(await migrate(url, dir)).toEqual(["0001_pair"]);
});

test("a runner gives up when another one holds the lock longer than it may wait", async () => {
  write("0001_one", "select pg_sleep(1.5);");
  const first = migrate(url, dir);
  onTestFinished(() => first.then(() => undefined));
  await until("the first runner inside its file", async () => (await query(url, "select 1 from _prisma_migrations").catch(() => [])).length > 0);
  await expect(migrate(url, dir, { waitMs: 100 })).rejects.toThrow("still holds the lock after 100 ms");
});

test("a schema in the URL is refused, because its tables would land in public", async () => {
  await expect(migrate(`${url}?schema=tenant`, dir)).rejects.toThrow("?schema= in the database URL is not supported");
});
