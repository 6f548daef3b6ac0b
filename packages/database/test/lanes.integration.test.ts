import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  beginIncarnation, capRuns, createAccept, createDatabase, deleteEndedRecords, deleteExpiredRecords, deleteIncarnations, enforceDeadlines, listOrphaned,
  mintRunId, prepareLanes, renewLanes, retireIncarnation, stampPositions, statements, sweepRuns, takeOver, yieldLanes, type Database, type NewRun, type ReleaseLimits,
} from "@mainstay/database";
import { createTestDatabase, until, type TestDatabase } from "@mainstay/testing";
import pg from "pg";

const names = ["one", "two"];
const limits: ReleaseLimits = { crashLimit: 5, lossLimit: 20, handBackLimit: 20, backoffBaseMs: 1_000, retentionDays: 30 };
const first = "00000000-0000-0000-0000-000000000000";
const day = 24 * 60 * 60 * 1_000;
let database: TestDatabase;
let db: Database;
let admin: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, applicationName: "test", poolSize: 6, statementTimeoutMs: 2_000, idleInTransactionMs: 1_000 });
  admin = new pg.Pool({ connectionString: database.url, max: 2 });
  admin.on("error", () => undefined); // ended with its database
});
afterAll(async () => {
  await db.end();
  await admin.end();
  await database.drop();
});
beforeEach(async () => {
  await admin.query("truncate lanes, ops_events, idempotency_records, runs, incarnations, outbox, run_events, dead_letters cascade");
});

const begin = async (): Promise<string> => {
  const id = randomUUID();
  await beginIncarnation(db, { id, role: "supervisor", host: "test", version: "0", leaseMs: 3_000 });
  return id;
};
const renew = async (holder: string, { leaseMs = 10_000, succeeded = [] as string[] } = {}) => {
  const view = await renewLanes(db, { holder, names, leaseMs, succeeded, stopGraceMs: 0 });
  return { ...view, held: view.lanes.filter(({ held }) => held).map(({ name }) => name) };
};
/** A uuid v7 of an instant so many milliseconds ago. */
const idFrom = (agoMs: number): string => {
  const time = (Date.now() - agoMs).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
};
const accept = async (run: Partial<NewRun> = {}): Promise<string> => {
  const id = run.id ?? mintRunId();
  await createAccept(db, { dispatchBoundMs: 0, giveUpMs: 1_000 })({
    id, workspace: "test", workflowId: "w", specHash: "h", pool: "default", requires: "k", input: "{}", inputDigest: "00".repeat(32),
    subject: {}, nextNodes: [{ id: "a", typeId: "core.noop" }], ...run,
  });
  return id;
};

test("one replica takes all free lanes, another gets none while the leases last", async () => {
  await prepareLanes(db, names);
  await prepareLanes(db, names);
  const [one, two] = [await begin(), await begin()];
  expect((await renew(one)).held).toEqual(names);
  expect((await renew(two)).held).toEqual([]);
  expect((await renew(one)).lanes.map(({ token }) => token)).toEqual(["1", "1"]);
});

test("a lane is taken over with a higher token when its lease has run out, its holder has died, or gave it up", async () => {
  await prepareLanes(db, names);
  const [one, two, three] = [await begin(), await begin(), await begin()];
  await renew(one, { leaseMs: 1 });
  expect((await renew(two)).lanes.map(({ held, token }) => [held, token])).toEqual([[true, "2"], [true, "2"]]);
  await retireIncarnation(db, two);
  expect((await renew(three)).lanes.map(({ held, token }) => [held, token])).toEqual([[true, "3"], [true, "3"]]);
  expect(await yieldLanes(db, three)).toBe(2);
  expect((await renew(one)).lanes.map(({ held, token }) => [held, token])).toEqual([[true, "4"], [true, "4"]]);
});

test("a success is noted only by who holds the lane", async () => {
  await prepareLanes(db, names);
  const [one, two] = [await begin(), await begin()];
  await renew(one);
  expect((await renew(two, { succeeded: ["one"] })).lanes.map(({ lastSuccess }) => lastSuccess)).toEqual([0, 0]);
  expect((await renew(one, { succeeded: ["one"] })).lanes.map(({ lastSuccess }) => lastSuccess > 0)).toEqual([true, false]);
});

test("two replicas that renew at the same time never hold one lane both", async () => {
  await prepareLanes(db, names);
  const [one, two] = [await begin(), await begin()];
  for (let round = 0; round < 50; round++) {
    await admin.query("update lanes set until = '-infinity'");
    const [a, b] = await Promise.all([renew(one), renew(two)]);
    expect(a.held.filter((name) => b.held.includes(name))).toEqual([]);
    expect([...a.held, ...b.held].sort()).toEqual(names);
  }
});

test("the look tells of orphans, deadlines, stops and events without a position", async () => {
  await prepareLanes(db, names);
  const me = await begin();
  const { lanes: _, held: __, ...idle } = await renew(me);
  expect(idle).toEqual({ orphans: false, deadlines: false, stops: false, unstamped: false });

  const dead = await begin();
  await accept({ runTimeoutMs: 1 });
  await accept();
  const held = await sweepRuns(db, { incarnation: dead, requires: ["k"], holding: 0, leaseMs: 1_000 }, [randomUUID(), randomUUID()]);
  expect(held).toHaveLength(2);
  await retireIncarnation(db, dead);
  await admin.query("update runs set stop_requested = 'cancel', stop_at = now() where id = $1", [held[0]?.id]);
  await admin.query("insert into ops_events (type, data) values ('t', '{}')");
  expect(await renew(me)).toMatchObject({ orphans: true, deadlines: true, stops: true, unstamped: true });
  expect(await listOrphaned(db)).toEqual([dead]);
  expect(await deleteIncarnations(db, { afterMs: -1_000 })).toBe(0);
  await takeOver(db, { incarnations: [dead], limits });
  expect(await listOrphaned(db)).toEqual([]);
  expect(await deleteIncarnations(db, { afterMs: 60_000 })).toBe(0);
  expect(await deleteIncarnations(db, { afterMs: -1_000 })).toBe(1);
});

test("positions are dense and unique however many replicas stamp, and a late event comes after what was stamped", async () => {
  const put = async (count: number) => { await admin.query("insert into ops_events (type, data, at) select 't', '{}', now() - random() * interval '1 hour' from generate_series(1, $1)", [count]); };
  await put(200);
  const stampers = Array.from({ length: 6 }, async () => {
    for (let quiet = 0; quiet < 5;) quiet = (await stampPositions(db, 17)) === 0 ? quiet + 1 : 0;
  });
  await put(150);
  await Promise.all(stampers);
  while ((await stampPositions(db)) !== 0);
  const { rows } = await admin.query<{ n: number; least: string; most: string }>("select count(distinct position)::int as n, min(position) as least, max(position) as most from ops_events");
  expect(rows[0]).toEqual({ n: 350, least: "1", most: "350" });
  await admin.query("insert into ops_events (type, data, at) values ('late', '{}', now() - interval '2 hours')");
  expect(await stampPositions(db)).toBe(1);
  expect((await admin.query("select position from ops_events where type = 'late'")).rows).toEqual([{ position: "351" }]);
});

test("an event that another replica has stamped meanwhile keeps its position", async () => {
  await admin.query("insert into ops_events (type, data) select 't', '{}' from generate_series(1, 3)");
  const other = await admin.connect();
  await other.query("begin");
  await other.query({ text: statements.get("ops_events.stamp")?.text ?? "", values: [10] });
  const stamping = stampPositions(db); // waits for the other's rows
  await until("the wait", async () => (await admin.query("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).rowCount === 1, 2_000);
  await other.query("commit");
  other.release();
  expect(await stamping).toBe(0);
});

test("idempotency records live until a day after their run, and are then removed page by page", async () => {
  const record = (runId: string) => accept({ id: runId, idempotency: { operation: "runs.create", key: runId, bodyDigest: "00".repeat(32), answer: {} } });
  const ended = [idFrom(3 * day), idFrom(3 * day), idFrom(2 * day)];
  const [justEnded, running, young, gone] = [idFrom(2 * day), idFrom(2 * day), idFrom(1_000), idFrom(2 * day)];
  for (const id of [...ended, justEnded, running, young, gone]) await record(id);
  const end = (ids: string[], ago: string) => admin.query("update runs set status = 'completed', waiting_on = null, finished_at = now() - $2::interval where id = any($1::uuid[])", [ids, ago]);
  await end(ended, "25 hours");
  await end([justEnded, young], "1 second");
  await admin.query("delete from runs where id = $1", [gone]);
  await admin.query("insert into idempotency_records (workspace, operation, key, body_digest, status, body, expires_at) values ('t', 'o', 'old', '', 201, '{}', now() - interval '1 second'), ('t', 'o', 'new', '', 201, '{}', now() + interval '1 hour')");

  let after = first;
  let removed = 0;
  for (let more = true; more;) {
    const page = await deleteEndedRecords(db, { after, keepMs: day, limit: 2 });
    removed += page.removed;
    more = page.seen === 2;
    after = page.last ?? after;
  }
  expect(removed).toBe(4);
  expect(await deleteExpiredRecords(db)).toBe(1);
  expect((await admin.query<{ key: string }>("select key from idempotency_records order by key")).rows.map(({ key }) => key))
    .toEqual([justEnded, running, young, "new"].sort());
});

test("a run without a deadline gets the fleet's once it has passed it, and is then ended", async () => {
  const old = await accept({ id: idFrom(day + 60_000) });
  const own = await accept({ id: idFrom(day + 60_000), runTimeoutMs: 10 * day });
  const young = await accept();
  await admin.query("update runs set created_at = now() - interval '24 hours 1 minute' where id = any($1::uuid[])", [[old, own]]);
  expect(await capRuns(db, { after: first, capMs: day })).toMatchObject({ seen: 2, capped: 1 });
  expect(await capRuns(db, { after: first, capMs: day })).toMatchObject({ seen: 2, capped: 0 });
  expect((await enforceDeadlines(db, { limits })).map(({ id, status }) => [id, status])).toEqual([[old, "failed"]]);
  const { rows } = await admin.query("select payload->>'limit' as limit from run_events where run_id = $1 and type = 'cap.breached'", [old]);
  expect(rows).toEqual([{ limit: String(day) }]);
  expect((await admin.query("select status from runs where id = any($1::uuid[]) order by id", [[own, young]])).rows).toEqual([{ status: "pending" }, { status: "pending" }]);
});
