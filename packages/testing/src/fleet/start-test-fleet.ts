import { createHash, randomBytes } from "node:crypto";
import path from "node:path";
import { createDatabase, createKey } from "@mainstay/database";
import { startFleet, type Fleet, type FleetOptions } from "@mainstay/fleet";
import pg from "pg";
import { repository } from "../backend/repository.js";
import { createTestDatabase, type TestDatabase } from "../postgres/create-test-database.js";
import { createTestRedis, type TestRedis } from "../redis/create-test-redis.js";
import { until } from "../until.js";
import { readLog, type StoredEvent } from "./read-log.js";
import { readExecutions, type Execution } from "./read-executions.js";
import type { Sql } from "./sql.js";
import { scaledSettings } from "./scaled-settings.js";

/** How the fleet in miniature is made. */
export type TestFleetOptions = Pick<FleetOptions, "api" | "relay" | "workers" | "supervisors"> & Readonly<{
  /** `redis` (default) takes a numbered database of the shared server, `none` is brokerless. A URL is taken as it is. */
  broker?: "redis" | "none" | Readonly<{ url: string }>;
  /** A database of one's own instead of a new one; it is not dropped by `stop`. */
  databaseUrl?: string;
  /** An ES module that exports `workflows`, for `MAINSTAY_WORKFLOWS`. */
  workflows?: string;
  /** `scaled` (default): a lease of one second. `default`: the product's own times. */
  times?: "scaled" | "default";
  /** Laid over the times. */
  env?: Readonly<Record<string, string>>;
  /** Names the folder of the logs, `.data/tests/logs/<name>`. */
  name?: string;
}>;

/** A key that was made for a test. */
export type TestKeyOptions = Readonly<{ workspace?: string; scopes?: readonly string[]; expiresInMs?: number }>;

/** A whole fleet of real processes with short leases, on a database of its own. */
export type TestFleet = Readonly<{
  fleet: Fleet;
  apiUrl: () => string;
  /** A key of the workspace `test` with every scope of runs and `ops:read`. */
  key: string;
  databaseUrl: string;
  redisUrl: string | undefined;
  /** The environment its processes were given. */
  env: Readonly<Record<string, string | undefined>>;
  /** Where every process's whole output lies, one `<process>.log` each. */
  logFolder: string;
  createKey: (options?: TestKeyOptions) => Promise<string>;
  /** The stored events of a run, oldest first. Takes the bound id or the bare uuid. */
  log: (runId: string) => Promise<StoredEvent[]>;
  /** Node executions that began, counted per (run, node, fence, attempt) out of the stored events. */
  executions: () => Promise<Execution[]>;
  /** Waits until every one of these runs is terminal; answers run id → status. */
  waitEnded: (runIds: readonly string[], withinMs?: number) => Promise<ReadonlyMap<string, string>>;
  /** Reads the database as its owner, for assertions. */
  sql: Sql;
  /** Ends every process (SIGTERM, then SIGKILL) and drops what was made. Answers how each ended. */
  stop: (options?: { withinMs?: number }) => ReturnType<Fleet["stop"]>;
}>;

const keyScopes = ["runs:create", "runs:read", "runs:cancel", "ops:read"];

/**
 * Starts a fleet in miniature. Requests of its workers may reach loopback.
 *
 * @throws when a process does not become ready; then everything has been ended and dropped.
 */
export async function startTestFleet(options: TestFleetOptions = {}): Promise<TestFleet> {
  const database = await takeDatabase(options.databaseUrl);
  const redis = await takeRedis(options.broker ?? "redis");
  const pool = new pg.Pool({ connectionString: database.url, max: 3, application_name: "test" });
  pool.on("error", () => undefined); // the next query reports what persists
  const release = async (): Promise<void> => {
    await pool.end();
    await redis.stop();
    await database.drop();
  };
  const env: Record<string, string | undefined> = {
    PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_ENV: "test",
    ...(options.times === "default" ? {} : scaledSettings),
    DATABASE_URL: database.url,
    ...(redis.url === undefined ? { MAINSTAY_BROKER: "none" } : { REDIS_URL: redis.url, MAINSTAY_BROKER: "redis" }),
    MAINSTAY_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
    ...(options.workflows === undefined ? {} : { MAINSTAY_WORKFLOWS: options.workflows }),
    ...options.env,
  };
  try {
    const { name = `fleet-${process.pid}-${randomBytes(3).toString("hex")}` } = options;
    const key = await makeKey(database.url, {});
    const logFolder = path.join(repository, ".data/tests/logs", name);
    const fleet = await startFleet({ ...options, env, logFolder });
    const sql: Sql = async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await pool.query<Row>(text, [...values])).rows;
    return {
      fleet, key, env, sql, logFolder,
      apiUrl: fleet.apiUrl,
      databaseUrl: database.url,
      redisUrl: redis.url,
      createKey: (wanted = {}) => makeKey(database.url, wanted),
      log: (runId) => readLog(sql, bare(runId)),
      executions: () => readExecutions(sql),
      waitEnded: (runIds, withinMs = 30_000) => waitEnded(sql, runIds, withinMs),
      async stop(how = {}) {
        const exits = await fleet.stop({ withinMs: 10_000, ...how });
        await release();
        return exits;
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

async function takeDatabase(url: string | undefined): Promise<TestDatabase> {
  return url === undefined ? createTestDatabase() : { url, drop: async () => Promise.resolve() };
}

async function takeRedis(broker: NonNullable<TestFleetOptions["broker"]>): Promise<Pick<TestRedis, "stop"> & { url: string | undefined }> {
  if (broker === "redis") return createTestRedis();
  return { url: broker === "none" ? undefined : broker.url, stop: async () => Promise.resolve() };
}

async function makeKey(databaseUrl: string, { workspace = "test", scopes = keyScopes, expiresInMs }: TestKeyOptions): Promise<string> {
  const keyId = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  const database = createDatabase({ url: databaseUrl, applicationName: "test", poolSize: 1, statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 });
  try {
    await createKey(database, {
      keyId, workspace, name: "test", scopes, secretHash: createHash("sha256").update(secret).digest("hex"),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    });
  } finally {
    await database.end();
  }
  return `mst_${keyId}_${secret}`;
}

async function waitEnded(sql: Sql, runIds: readonly string[], withinMs: number): Promise<ReadonlyMap<string, string>> {
  const ids = runIds.map(bare);
  let open: { id: string; status: string; waiting_on: string | null }[] = [];
  const all = await until(`${ids.length} runs to end`, async () => {
    const rows = await sql<{ id: string; status: string; waiting_on: string | null }>("select id, status, waiting_on from runs where id = any($1::uuid[])", [ids]);
    open = rows.filter(({ status }) => !["completed", "failed", "cancelled"].includes(status));
    if (rows.length === new Set(ids).size && open.length === 0) return new Map(rows.map(({ id, status }) => [id, status]));
    const shown = open.slice(0, 3).map((row) => `${row.id} ${row.status} (${row.waiting_on ?? "held"})`).join(", ");
    throw new Error(`${open.length} of ${rows.length} are open: ${shown}`);
  }, withinMs);
  return new Map(runIds.map((runId) => [runId, all.get(bare(runId)) ?? "unknown"]));
}

/** The uuid of a bound id. */
function bare(runId: string): string {
  return runId.slice(runId.lastIndexOf("/") + 1);
}
