import { createTestDatabase, type TestDatabase } from "@mainstay/testing";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { checkConnections, ConnectionsRefused, createDatabase, type Database, type Statement } from "../src/index.js";

const times = { statementTimeoutMs: 1_000, idleInTransactionMs: 500 };
let owned: TestDatabase;
beforeAll(async () => { owned = await createTestDatabase(); });
afterAll(() => owned.drop());

function open(pooler: "none" | "transaction"): Database {
  const db = createDatabase({ url: owned.url, applicationName: "test", poolSize: 1, pooler, ...times });
  onTestFinished(() => db.end());
  return db;
}

async function asOwner(text: string): Promise<void> {
  const owner = new pg.Client({ connectionString: owned.url });
  await owner.connect();
  await owner.query(text);
  await owner.end();
}

const ask = (text: string): Statement<Record<string, unknown>> => ({ name: "test.ask", text, plan: "generic" });

test("a pool that bears its session settings is good", async () => {
  await checkConnections({ db: open("none"), pooler: "none", url: owned.url, directUrl: owned.url, ...times });
});

test("a pool whose settings do not arrive is refused with the setting to use", async () => {
  // a session without settings, as one behind a pooler that drops them
  await expect(checkConnections({ db: open("transaction"), pooler: "none", url: owned.url, directUrl: owned.url, ...times }))
    .rejects.toThrow(/DATABASE_URL leads through a pooler.*MAINSTAY_DATABASE_POOLER=transaction/);
});

test("a pooled login without the settings is refused with the statements that give them, and good after these", async () => {
  await asOwner("do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$");
  const refused: unknown = await checkConnections({ db: open("transaction"), pooler: "transaction", url: owned.url, directUrl: owned.url, ...times }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ConnectionsRefused);
  const { message } = refused as ConnectionsRefused;
  expect(message).toContain("statement_timeout is 0");
  expect(message).toContain("default_transaction_isolation is serializable");
  await asOwner(message.slice(message.indexOf("alter role")));
  await checkConnections({ db: open("transaction"), pooler: "transaction", url: owned.url, directUrl: owned.url, ...times });
});

test("statements run under read committed whatever the database's default is", async () => {
  await asOwner("do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$");
  const db = open("none");
  expect(await db.query(ask("select current_setting('transaction_isolation') as level"), [])).toEqual([{ level: "read committed" }]);
  expect(await db.transact((transaction) => transaction.query(ask("select current_setting('transaction_isolation') as level"), []))).toEqual([{ level: "read committed" }]);
});

test("a pooled statement leaves no prepared statement behind", async () => {
  const prepared = ask("select count(*)::int as n from pg_prepared_statements");
  const pooled = open("transaction");
  await pooled.query(prepared, []);
  expect(await pooled.query(prepared, [])).toEqual([{ n: 0 }]);
  const direct = open("none");
  await direct.query(prepared, []);
  expect(await direct.query(prepared, [])).toEqual([{ n: 1 }]);
});
