import { createHash, randomBytes } from "node:crypto";
import path from "node:path";
import pg from "pg";
import { createDatabase, createKey, migrate } from "@mainstay/database";
import { startFleet } from "@mainstay/fleet";
import { paths } from "../../../infra/dev/paths.mjs";

const database = "bench_mainstay";

/**
 * The product as it ships: api, relay, supervisor and `workers` workers as processes, default settings, a key and the
 * validation of every request. With `workers: 0` one worker registers the workflows and is ended.
 */
export async function startMainstay({ workers = 2, servers, sink, env = {}, beforeWorkers = async () => {} }) {
  const url = await servers.reset(database);
  await migrate(url, paths.migrations);
  const key = await makeKey(url);
  const fleet = await startFleet({
    workers: 0,
    env: {
      PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: "production",
      DATABASE_URL: url, REDIS_URL: servers.redisUrl, MAINSTAY_BROKER: "redis", MAINSTAY_HOST: "127.0.0.1",
      MAINSTAY_WORKFLOWS: path.join(import.meta.dirname, "workflows.mjs"), BENCH_SINK: String(sink.port), ...env,
    },
    logFolder: path.join(paths.data, "bench/logs"),
  });
  const admin = new pg.Pool({ connectionString: url, max: 1 });
  admin.on("error", () => undefined); // the next query reports it
  try {
    await beforeWorkers(url);
    if (workers === 0) await (await fleet.add("worker")).kill("SIGTERM");
    await Promise.all(Array.from({ length: workers }, () => fleet.add("worker")));
  } catch (error) {
    await fleet.stop({ withinMs: 1_000 });
    throw error;
  }
  const port = Number(new URL(fleet.apiUrl()).port);
  const headers = `authorization: Bearer ${key}\r\n`;
  return {
    fleet, url, database,
    port: () => port,
    request: ({ id, kind, ms }) => ({ path: "/runs", headers, body: { workflowId: kind, inputs: { id, ms } } }),
    pids: () => [...fleet.processes().filter((one) => one.exit() === undefined).map(({ pid }) => pid), servers.postgresPid, servers.redisPid],
    async completed() {
      const { rows } = await admin.query("select count(*)::int as count from runs where status = 'completed'");
      return rows[0].count;
    },
    async stop() {
      await admin.end();
      await Promise.all(fleet.processes().map((one) => one.kill("SIGKILL")));
      await servers.drop(database);
    },
  };
}

async function makeKey(url) {
  const keyId = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  const db = createDatabase({ url, applicationName: "bench", poolSize: 1, statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 });
  try {
    await createKey(db, {
      keyId, workspace: "bench", name: "bench", scopes: ["runs:create", "runs:read"],
      secretHash: createHash("sha256").update(secret).digest("hex"),
    });
  } finally {
    await db.end();
  }
  return `mst_${keyId}_${secret}`;
}
