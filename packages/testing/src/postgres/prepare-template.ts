import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "@mainstay/database";
import type pg from "pg";
import { repository } from "../backend/repository.js";
import { codeOf } from "./code-of.js";
import { databaseOn } from "./database-on.js";

const TEMPLATE_LOCK = 7_462_101;

/**
 * The name of a database that holds the migrations of this clone and no row, made once per content of
 * prisma/migrations by whoever comes first. Nobody may stay connected to it: it is there to be cloned.
 */
export async function prepareTemplate(admin: pg.Client, serverUrl: string): Promise<string> {
  const migrations = path.join(repository, "prisma/migrations");
  const name = `mainstay_template_${digest(migrations)}`;
  if (await exists(admin, name)) return name;
  await takeLock(admin);
  try {
    if (await exists(admin, name)) return name;
    const half = `${name}_half`;
    await admin.query(`drop database if exists ${half} with (force)`);
    await migrate(databaseOn(serverUrl, half), migrations);
    await renameWhenLeft(admin, half, name);
    return name;
  } finally {
    await admin.query("select pg_advisory_unlock($1)", [TEMPLATE_LOCK]);
  }
}

function digest(dir: string): string {
  const hash = createHash("sha256");
  const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const name of folders.map((entry) => entry.name).sort()) {
    hash.update(`${name}\n`).update(readFileSync(path.join(dir, name, "migration.sql")));
  }
  return hash.digest("hex").slice(0, 16);
}

async function exists(admin: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await admin.query("select from pg_database where datname = $1", [name]);
  return rowCount === 1;
}

/** Advisory locks live in one database; all test processes of a run are admins of the same one. */
async function takeLock(admin: pg.Client): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const { rows } = await admin.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [TEMPLATE_LOCK]);
    if (rows[0]?.taken) return;
    if (performance.now() > deadline) throw new Error("another process has been migrating the template for 120 s: end it");
    await sleep(100);
  }
}

/** A session that has ended is counted a moment longer; 55006 says so. */
async function renameWhenLeft(admin: pg.Client, from: string, to: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await admin.query(`alter database ${from} rename to ${to}`);
      return;
    } catch (error) {
      if (codeOf(error) !== "55006" || tries === 50) throw error;
      await sleep(100);
    }
  }
}
