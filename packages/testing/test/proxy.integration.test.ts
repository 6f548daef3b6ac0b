import { createTestDatabase, cutAfterBytes, cutAtText, loseReplies, startProxy, until, type Proxy, type TestDatabase } from "@mainstay/testing";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

let database: TestDatabase;
let proxy: Proxy;
let direct: pg.Client;
const clients: pg.Client[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  await direct.query("create table notes (n int)");
});
afterAll(async () => {
  await direct.end();
  await database.drop();
});
beforeEach(async () => {
  proxy = await startProxy(database.url);
  await direct.query("truncate notes");
});
afterEach(async () => {
  await proxy.stop();
  await Promise.allSettled(clients.splice(0).map((client) => client.end()));
});

async function open(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: proxy.through(database.url) });
  client.on("error", () => undefined); // the test looks at the queries
  await client.connect();
  clients.push(client);
  return client;
}

async function notes(): Promise<number> {
  const { rows } = await direct.query<{ count: number }>("select count(*)::int as count from notes");
  return rows[0]!.count;
}

async function within(promise: Promise<unknown>, ms: number): Promise<"settled" | "silent"> {
  return Promise.race([promise.then(() => "settled" as const), new Promise<"silent">((resolve) => setTimeout(resolve, ms, "silent"))]);
}

test("everything passes while no fault is ordered", async () => {
  const client = await open();
  expect((await client.query<{ n: string }>("select repeat('x', 300000) as n")).rows[0]!.n).toHaveLength(300_000);
  expect(proxy.connections()).toBe(1);
  await client.end();
  await until("the proxy to close the other side", () => proxy.connections() === 0);
});

test.each([
  ["a named statement", { name: "notes.add", text: "insert into notes values (1)" }],
  ["an unnamed statement with its name in a comment", { text: "/* notes.add */ insert into notes values ($1)", values: [1] }],
  ["a simple statement with its name in a comment", { text: "/* notes.add */ insert into notes values (1)" }],
])("a lost reply of %s leaves the write committed and the client without an answer", async (_, query) => {
  const lost: string[] = [];
  proxy.inspect(loseReplies({ of: (name) => name === "notes.add", times: 1, onLost: (name) => lost.push(name) }));
  const client = await open();
  await client.query("select 1");
  await expect(client.query(query)).rejects.toThrow();
  expect(lost).toEqual(["notes.add"]);
  expect(proxy.cuts()).toBe(1);
  expect(await notes()).toBe(1);
  const again = await open();
  await again.query(query);
  expect(await notes()).toBe(2);
});

test("the reply of a prepared statement can be lost when it is executed again", async () => {
  let armed = false;
  proxy.inspect(loseReplies({ of: (name) => armed && name === "notes.add" }));
  const client = await open();
  const query = { name: "notes.add", text: "insert into notes values (1)" };
  await client.query(query);
  armed = true;
  await expect(client.query(query)).rejects.toThrow();
  expect(await notes()).toBe(2);
});

test("a black hole stays silent without closing, and healing passes on what was sent meanwhile", async () => {
  const client = await open();
  proxy.blackHole();
  const pending = client.query("insert into notes values (1)");
  expect(await within(pending, 300)).toBe("silent");
  expect(await notes()).toBe(0);
  proxy.heal();
  await pending;
  expect(await notes()).toBe(1);
});

test("a new connection into a black hole is taken and stays silent", async () => {
  proxy.blackHole();
  expect(await within(open(), 300)).toBe("silent");
  proxy.heal();
});

test("over a half-open connection the request arrives and the reply does not", async () => {
  const client = await open();
  proxy.halfOpen();
  const pending = client.query("insert into notes values (1)");
  await until("the write", async () => (await notes()) === 1);
  expect(await within(pending, 200)).toBe("silent");
  proxy.heal();
  await pending;
});

test("a delay makes every answer late by two ways", async () => {
  const client = await open();
  proxy.delay(100);
  const began = performance.now();
  await client.query("select 1");
  expect(performance.now() - began).toBeGreaterThanOrEqual(199);
});

test("a reset breaks open connections and serves new ones; refusing breaks both until it heals", async () => {
  const client = await open();
  const pending = client.query("select pg_sleep(5)");
  proxy.reset();
  await expect(pending).rejects.toThrow();
  await (await open()).query("select 1");
  proxy.refuse();
  await expect(open()).rejects.toThrow();
  proxy.heal();
  await (await open()).query("select 1");
});

test("a connection is cut after so many bytes of the server, or at a text in its reply", async () => {
  proxy.inspect(cutAfterBytes(10_000));
  const client = await open();
  await expect(client.query("select repeat('x', 20000)")).rejects.toThrow();
  proxy.inspect(cutAtText("forbidden"));
  const other = await open();
  await other.query("select 'allowed'");
  await expect(other.query("select 'forbidden'")).rejects.toThrow();
  expect(proxy.cuts()).toBe(2);
});
