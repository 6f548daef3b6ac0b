import { createHash, randomUUID } from "node:crypto";
import { createTicketConsumer, createTicketPublisher, type TicketConsumer, type TicketPublisher } from "@mainstay/broker";
import { createAccept, createDatabase, mintRunId, pinWorkflow, registerWorkflows, takeOutbox, type Database } from "@mainstay/database";
import { conformanceFixtures } from "@mainstay/domain";
import { createLogger, createMetrics } from "@mainstay/telemetry";
import { createTestDatabase, startOwnRedis, until, type OwnRedis, type TestDatabase } from "@mainstay/testing";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { runOutbox, type RunningOutbox } from "../src/outbox/run-outbox.js";
import { createRest, type Rest } from "../src/rest.js";

const prefix = "{relay-test}";
const [document] = conformanceFixtures;
if (document === undefined) throw new Error("expected a fixture to run");
const pinned = pinWorkflow(document, "default");

let testDatabase: TestDatabase;
let redis: OwnRedis;
let db: Database;
let admin: pg.Client;
let publisher: TicketPublisher;
const outboxes: RunningOutbox[] = [];
const consumers: TicketConsumer[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  redis = await startOwnRedis();
  db = createDatabase({ url: testDatabase.url, applicationName: "relay-test", poolSize: 5, statementTimeoutMs: 2_000, idleInTransactionMs: 1_000 });
  admin = new pg.Client(testDatabase.url);
  await admin.connect();
  await registerWorkflows(db, [pinned]);
});
afterAll(async () => {
  await admin.end();
  await db.end();
  await redis.stop();
  await testDatabase.drop();
});
beforeEach(async () => {
  await admin.query("truncate outbox");
  await redis.flush();
  publisher = createTicketPublisher({ url: redis.url, prefix, commandTimeoutMs: 500 });
  await until("the publisher is up", () => publisher.brokerUp(), 5_000);
});
afterEach(async () => {
  await Promise.all(outboxes.splice(0).map((outbox) => outbox.stop()));
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
  await publisher.close();
});

async function acceptRuns(count: number, pool = "default"): Promise<string[]> {
  const accept = createAccept(db, { dispatchBoundMs: 2_000, giveUpMs: 5_000 });
  const ids = Array.from({ length: count }, mintRunId);
  const inputDigest = createHash("sha256").update("{}").digest("hex");
  await Promise.all(ids.map((id) => accept({
    id, workspace: "w", workflowId: pinned.document.id, specHash: pinned.specHash, pool, requires: pinned.requires,
    input: "{}", inputDigest, subject: {}, nextNodes: pinned.document.nodes.slice(0, 1).map((node) => ({ id: node.id, typeId: node.typeId })),
  })));
  return ids;
}

async function rowsLeft(): Promise<number> {
  const { rows } = await admin.query<{ count: number }>("select count(*)::int as count from outbox");
  return rows[0]?.count ?? -1;
}

function listen(pool: string): string[] {
  const taken: string[] = [];
  consumers.push(createTicketConsumer({
    url: redis.url, prefix, pool, commandTimeoutMs: 500, freeSlots: () => 1_000,
    onTicket: async (runIds) => { taken.push(...runIds); },
    onBadTicket: (raw) => { throw new Error(`unexpected message ${raw}`); },
  }));
  return taken;
}

function start(more: Partial<Parameters<typeof runOutbox>[0]> = {}): Rest {
  const rest = createRest();
  const outbox = runOutbox({
    db, publisher, relay: randomUUID(), relayPollMs: 200, rest, metrics: createMetrics({ role: "relay" }),
    logger: createLogger({ role: "relay", incarnation: "i", level: "error" }), ...more,
  });
  outboxes.push(outbox);
  return rest;
}

test("every accepted run rings once in its own pool, and no row is left", async () => {
  const [here, there] = [listen("default"), listen("other")];
  start();
  const [ids, others] = await Promise.all([acceptRuns(700), acceptRuns(20, "other")]);
  await until("all runs rang", () => here.length >= 700 && there.length >= 20, 15_000);
  expect([...here].sort()).toEqual([...ids].sort());
  expect([...there].sort()).toEqual([...others].sort());
  await until("no row is left", async () => (await rowsLeft()) === 0, 5_000);
});

test("woken, a run rings within milliseconds although the next poll is far", async () => {
  const taken = listen("default");
  const rest = start({ relayPollMs: 60_000 });
  await until("the first look is over", async () => (await rowsLeft()) === 0, 2_000);
  const [id] = await acceptRuns(1);
  const from = performance.now();
  rest.end();
  await until("the run rang", () => taken.length === 1, 3_000);
  expect(performance.now() - from).toBeLessThan(1_000);
  expect(taken).toEqual([id]);
});

test("a row that falls due before the next poll rings when it is due", async () => {
  const taken = listen("default");
  await acceptRuns(1);
  await admin.query("update outbox set due_at = now() + interval '300 milliseconds'");
  const from = performance.now();
  start({ relayPollMs: 5_000 });
  await until("the run rang", () => taken.length === 1, 4_000);
  expect(performance.now() - from).toBeGreaterThan(250);
  expect(performance.now() - from).toBeLessThan(2_000);
});

test("two relays share the rows, and each run rings once", async () => {
  const taken = listen("default");
  const ids = await acceptRuns(1_500);
  start();
  start();
  await until("all runs rang", () => taken.length >= 1_500, 15_000);
  expect([...taken].sort()).toEqual([...ids].sort());
});

test("rows that a relay took before it died ring again once they are stale", async () => {
  const taken = listen("default");
  const ids = await acceptRuns(3);
  await takeOutbox(db, { relay: randomUUID(), limit: 10, staleMs: 15_000, horizonMs: 1_000 });
  start();
  await admin.query("update outbox set taken_at = now() - interval '16 seconds'");
  await until("they rang", () => taken.length >= 3, 3_000);
  expect([...taken].sort()).toEqual([...ids].sort());
});

test("the rows of a run that no longer waits are dropped without a ticket", async () => {
  const taken = listen("default");
  const ids = await acceptRuns(2);
  await admin.query("update outbox set run_id = gen_random_uuid() where run_id = $1", [ids[0]]);
  start();
  await until("no row is left", async () => (await rowsLeft()) === 0, 3_000);
  await until("the other rang", () => taken.length === 1, 3_000);
  expect(taken).toEqual([ids[1]]);
});

test("while the broker is away rows are left untouched, and ring once it is back", async () => {
  const taken = listen("default");
  await redis.kill();
  await until("the publisher knows", () => !publisher.brokerUp(), 3_000);
  const rest = start();
  const ids = await acceptRuns(20);
  rest.end();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { rows } = await admin.query<{ tries: number }>("select distinct tries from outbox");
  expect(rows).toEqual([{ tries: 0 }]);
  await redis.start();
  await until("all rang", () => taken.length >= 20, 8_000);
  expect([...taken].sort()).toEqual([...ids].sort());
});

test("one row that the broker never takes holds up no neighbour, and is isolated with its reason after five tries", async () => {
  const taken = listen("default");
  const [bad] = await acceptRuns(1);
  const good = await acceptRuns(300);
  const tried: number[] = [];
  start({
    publisher: {
      brokerUp: () => true,
      publish: (pool, tickets) => {
        if (!tickets.flat().includes(String(bad))) return publisher.publish(pool, tickets);
        if (tickets.flat().length === 1) tried.push(performance.now());
        return Promise.reject(new Error("no ticket can name this"));
      },
    },
  });
  await until("the neighbours rang", () => taken.length >= 300, 3_000);
  expect([...taken].sort()).toEqual([...good].sort());
  for (let tries = 1; tries <= 4; tries++) {
    await until(`try ${tries}`, () => tried.length === tries, 3_000);
    await until("its back-off", async () => (await admin.query("select from outbox where taken_by is null and due_at > now() and tries = $1", [tries])).rowCount === 1, 3_000);
    await admin.query("update outbox set due_at = now()"); // the wait is the statement's own: no need to sit it out
  }
  await until("no row is left", async () => (await rowsLeft()) === 0, 3_000);
  expect(tried).toHaveLength(5);
  const { rows } = await admin.query("select pool, reason, named_run, body, state from message_dead_letters where named_run = $1", [bad]);
  expect(rows).toEqual([{ pool: "default", reason: "unpublishable", named_run: bad, body: "no ticket can name this", state: "open" }]);
  const { rows: told } = await admin.query("select type, data->>'message' as message from ops_events where subject = $1", [bad]);
  expect(told).toEqual([{ type: "message_dead_letter.opened", message: "no ticket can name this" }]);
});

test("an outage isolates no row: each is given back with its try counted, due again at once", async () => {
  await acceptRuns(20);
  let up = true;
  start({ publisher: { brokerUp: () => up, publish: () => { up = false; return Promise.reject(new Error("Connection is closed.")); } } });
  await until("the rows are given back", async () => (await admin.query("select from outbox where taken_by is null and tries = 1 and last_error = 'Connection is closed.' and due_at < now() + interval '1 second'")).rowCount === 20, 5_000);
});

test("a refused publication gives its rows back with the reason, and the other pool's rows are gone", async () => {
  await acceptRuns(3);
  await acceptRuns(2, "other");
  start({
    publisher: {
      brokerUp: () => true,
      publish: (pool, tickets) => (pool === "other" ? Promise.reject(new Error("OOM command not allowed")) : publisher.publish(pool, tickets)),
    },
  });
  await until("the good pool's rows are gone", async () => (await rowsLeft()) === 2, 3_000);
  const { rows } = await admin.query("select taken_by, last_error, tries >= 1 as tried, due_at > now() - interval '1 second' as later from outbox");
  expect(rows).toEqual([1, 2].map(() => ({ taken_by: null, last_error: "OOM command not allowed", tried: true, later: true })));
});

test("without a broker due rows are emptied and nothing rings", async () => {
  await acceptRuns(600);
  start({ publisher: undefined });
  await until("no row is left", async () => (await rowsLeft()) === 0, 5_000);
});

test("Postgres away is outlasted", async () => {
  const taken = listen("default");
  start();
  await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'relay-test'");
  const ids = await acceptRuns(5);
  await until("all rang", () => taken.length >= 5, 5_000);
  expect([...taken].sort()).toEqual([...ids].sort());
});
