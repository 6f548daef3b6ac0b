import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { beginIncarnation, createAccept, createDatabase, mintRunId, sweepRuns, type Database } from "@mainstay/database";
import { createTestDatabase, until, type TestDatabase } from "@mainstay/testing";
import pg from "pg";

type Supervisor = { incarnation: string; port: number; process: ChildProcess; lines: Record<string, unknown>[]; exit: Promise<{ code: number | null; signal: string | null }> };

const laneNames = ["deadlines", "instances", "positions", "release", "retention"];
const leaseMs = 1_000; // lanes: four times as long
let database: TestDatabase;
let db: Database;
let admin: pg.Pool;
const processes: ChildProcess[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, applicationName: "test", poolSize: 3, statementTimeoutMs: 2_000, idleInTransactionMs: 1_000 });
  admin = new pg.Pool({ connectionString: database.url, max: 2 });
  admin.on("error", () => undefined); // ended with its database
});
afterAll(async () => {
  await db.end();
  await admin.end();
  await database.drop();
});
beforeEach(async () => { await admin.query("truncate lanes, incarnations, runs, run_events, outbox, ops_events, idempotency_records cascade"); });
afterEach(() => { for (const process of processes.splice(0)) process.kill("SIGKILL"); });

const start = async (): Promise<Supervisor> => {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../dist/main.js", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH, DATABASE_URL: database.url, MAINSTAY_PORT: "0", MAINSTAY_LEASE_MS: String(leaseMs), MAINSTAY_HEARTBEAT_MS: "250",
      MAINSTAY_BROKER: "none", MAINSTAY_STATEMENT_TIMEOUT_MS: "600", MAINSTAY_IDLE_TX_TIMEOUT_MS: "300", MAINSTAY_CANCEL_GRACE_MS: "200",
    },
  });
  processes.push(child);
  const lines: Record<string, unknown>[] = [];
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line) as Record<string, unknown>));
  const ready = await until("the supervisor to be ready", () => lines.find(({ msg }) => msg === "process ready"), 10_000);
  return { incarnation: String(ready.incarnation), port: Number(ready.port), process: child, lines, exit };
};
const holders = async (): Promise<(string | null)[]> => [...new Set((await admin.query<{ holder: string | null }>(
  "select holder from lanes where until > now() order by name")).rows.map(({ holder }) => holder))];
const allHeldBy = (incarnation: string, withinMs: number) => until(`all lanes held by ${incarnation}`, async () => {
  const held = (await admin.query<{ name: string }>("select name from lanes where holder = $1 and until > now() order by name", [incarnation])).rows.map(({ name }) => name);
  return JSON.stringify(held) === JSON.stringify(laneNames);
}, withinMs);
const accept = async (runTimeoutMs?: number): Promise<string> => {
  const id = mintRunId();
  await createAccept(db, { dispatchBoundMs: 0, giveUpMs: 1_000 })({
    id, workspace: "test", workflowId: "w", specHash: "h", pool: "default", requires: "k", input: "{}", inputDigest: "00".repeat(32), subject: {},
    nextNodes: [{ id: "a", typeId: "core.noop" }], ...(runTimeoutMs === undefined ? {} : { runTimeoutMs }),
  });
  return id;
};
const statusOf = async (id: string) => (await admin.query<{ status: string; owner: string | null; lost_trigger: string | null }>("select status, owner, lost_trigger from runs where id = $1", [id])).rows[0];

test("when the holder of the lanes is killed the other replica holds them next, under higher tokens", async () => {
  const one = await start();
  await allHeldBy(one.incarnation, 6_000);
  const two = await start();
  await pause(2_500);
  expect(await holders()).toEqual([one.incarnation]);
  one.process.kill("SIGKILL");
  await allHeldBy(two.incarnation, 4 * leaseMs + 3_000);
  expect((await admin.query("select distinct token from lanes")).rows).toEqual([{ token: "2" }]);
});

test("when the holder of the lanes is frozen the other replica holds them next, and the frozen one lives on under a new incarnation", async () => {
  const one = await start();
  await allHeldBy(one.incarnation, 6_000);
  const two = await start();
  one.process.kill("SIGSTOP");
  await allHeldBy(two.incarnation, 4 * leaseMs + 3_000);
  one.process.kill("SIGCONT");
  await until("a new incarnation", () => one.lines.filter(({ msg }) => msg === "incarnation registered").length === 2, 5_000);
  await pause(2_500);
  expect(await holders()).toEqual([two.incarnation]);
  expect((await fetch(`http://127.0.0.1:${one.port}/health/ready`)).status).toBe(200);
});

test("SIGTERM ends a supervisor with status 0, its incarnation has ended and its lanes are free at once", async () => {
  const one = await start();
  await allHeldBy(one.incarnation, 6_000);
  one.process.kill("SIGTERM");
  expect(await one.exit).toEqual({ code: 0, signal: null });
  expect(await holders()).toEqual([]);
  const { rows } = await admin.query("select ended_at is not null as ended, lapsed_at is null as unlapsed from incarnations where id = $1", [one.incarnation]);
  expect(rows).toEqual([{ ended: true, unlapsed: true }]);
});

test("the lanes release an orphan, end what passed its deadline, cancel what nobody holds and stamp positions; each tells its last success", async () => {
  const dead = randomUUID();
  await beginIncarnation(db, { id: dead, role: "worker", pool: "default", host: "test", version: "0", leaseMs });
  const orphan = await accept();
  await sweepRuns(db, { incarnation: dead, requires: ["k"], holding: 0, leaseMs }, [randomUUID()]);
  expect(await statusOf(orphan)).toMatchObject({ owner: dead });
  await admin.query("update incarnations set lapsed_at = now(), lapsed_trigger = 'heartbeat_expired', held_at_lapse = 7 where id = $1", [dead]);
  const late = await accept(1);
  const stopped = await accept();
  await admin.query("update runs set stop_requested = 'cancel', stop_at = now() where id = $1", [stopped]);
  await admin.query("insert into ops_events (type, data) select 't', '{}' from generate_series(1, 3)");

  const one = await start();
  await until("the release", async () => (await statusOf(orphan))?.owner === null, 5_000);
  expect(await statusOf(orphan)).toMatchObject({ status: "running", lost_trigger: "heartbeat_expired" });
  await until("the deadline", async () => (await statusOf(late))?.status === "failed", 5_000);
  await until("the stop", async () => (await statusOf(stopped))?.status === "cancelled", 5_000);
  await until("the positions", async () => (await admin.query("select from ops_events where position is not null")).rowCount === 4, 6_000); // and the dead letter's event
  await until("successes", async () => (await admin.query("select from lanes where last_success_at > now() - interval '10 seconds'")).rowCount === 5, 8_000);
  const metrics = await until("the metric", async () => {
    const text = await (await fetch(`http://127.0.0.1:${one.port}/metrics`)).text();
    return laneNames.every((name) => new RegExp(`mainstay_lane_last_success_timestamp_seconds\\{lane="${name}"\\} 1\\d{9}`).test(text)) && text;
  }, 6_000);
  expect(metrics).toContain('mainstay_recovery_bound_seconds{class="leased",trigger="heartbeat_expired"} 1.75');
  expect(metrics).toContain('mainstay_dead_letters{class="TRANSIENT",state="');
  expect(metrics).toMatch(/mainstay_runs\{status="cancelled"\} 1/);
  expect(metrics).toMatch(/mainstay_due_runs\{pool="default"\} 1/);
  expect(metrics).toMatch(/mainstay_db_sessions\{role="supervisor"\} \d/);
  expect(metrics).toMatch(/mainstay_takeovers_total\{trigger="heartbeat_expired"\} 1/);
});

test("an idle supervisor's lanes cost less than 1.7 statements a second", async () => {
  const one = await start();
  await allHeldBy(one.incarnation, 6_000);
  const statements = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${one.port}/metrics`)).text();
    return [...text.matchAll(/^mainstay_db_statement_duration_seconds_count\{op="[^"]+"\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const before = await statements();
  await pause(10_000);
  const cost = (await statements()) - before;
  expect(cost).toBeGreaterThan(3);
  expect(cost).toBeLessThan(17);
});
