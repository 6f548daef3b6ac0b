import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { betweenDirect, ConnectionsRefused } from "../sessions/connections-refused.js";
import { applyMigration } from "./apply-migration.js";
import { connect } from "./connect.js";
import { readMigrations, type Migration } from "./read-migrations.js";
import { statements } from "./statements.js";

/** Prisma's own number, so that its command line and this runner wait for each other. */
const PRISMA_MIGRATE_LOCK = 72707369;

type MigrateOptions = {
  /** How long to wait for another runner, in milliseconds. Default ten minutes. */
  readonly waitMs?: number;
};

type Recorded = { id: string; name: string; checksum: string; finishedAt: Date | null; logs: string | null };

/**
 * Applies `<dir>/<name>/migration.sql` in the order of the names and records each as Prisma does; makes the
 * database when it is missing. Any number of runners may race: one works, the others wait. Answers the names
 * that this call applied.
 *
 * Throws on a file that was edited after it was applied and on one that fails; later files are left alone. A
 * file runs in one transaction with its "finished" mark, so a runner that was killed left nothing of it.
 * A pooler between is refused: in transaction mode the lock would be another session's.
 */
export async function migrate(url: string, dir: string, options: MigrateOptions = {}): Promise<string[]> {
  const { waitMs = 600_000 } = options;
  if (new URL(url).searchParams.has("schema")) {
    throw new Error("?schema= in the database URL is not supported, the tables would land in public: take a database of its own");
  }
  const migrations = readMigrations(dir);
  const client = await connect(url);
  try {
    await refusePooler(client);
    await takeLock(client, waitMs);
    await client.query(statements.createRecords);
    const { rows } = await client.query<Recorded>(statements.findRecords);
    const records = new Map(rows.map((row) => [row.name, row]));
    const applied: string[] = [];
    for (const migration of migrations) {
      if (!(await isDue(client, migration, records.get(migration.name)))) continue;
      await applyMigration(client, migration);
      applied.push(migration.name);
    }
    return applied;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function refusePooler(client: pg.Client): Promise<void> {
  const { rows: [seen] } = await client.query<{ pid: number }>(statements.readPid);
  // node-postgres knows the process from the greeting; its typings do not name it. A pooler greets with a number of its own
  if (seen?.pid !== (client as unknown as { processID: number }).processID) throw new ConnectionsRefused(betweenDirect);
}

async function isDue(client: pg.Client, migration: Migration, record: Recorded | undefined): Promise<boolean> {
  if (!record) return true;
  const edited = record.checksum !== migration.checksum;
  if (record.finishedAt && edited) {
    throw new Error(`${migration.name} was edited after it was applied: restore it and add a new one`);
  }
  if (record.finishedAt) return false;
  const cutOff = record.logs === null; // the runner died, and its transaction with it
  if (!edited && !cutOff && !migration.concurrent) {
    throw new Error(`${migration.name} failed before and left nothing: correct it. It said: ${record.logs ?? ""}`);
  }
  await client.query(statements.recordRollback, [record.id]);
  return true;
}

/** Asks again and again: a waiting pg_advisory_lock holds a snapshot, and a concurrent build waits for it. */
async function takeLock(client: pg.Client, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(statements.tryLock, [PRISMA_MIGRATE_LOCK]);
    if (rows[0]?.taken) return;
    if (performance.now() > deadline) {
      throw new Error(`another migration run still holds the lock after ${waitMs} ms: let it end, or end its session`);
    }
    await sleep(250);
  }
}
