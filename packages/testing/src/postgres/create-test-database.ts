import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { findBackend } from "../backend/find-backend.js";
import { codeOf } from "./code-of.js";
import { databaseOn } from "./database-on.js";
import { openAdmin } from "./open-admin.js";
import { prepareTemplate } from "./prepare-template.js";

/** A migrated, empty database that one test file has to itself. */
export type TestDatabase = {
  readonly url: string;
  /** Ends every session on it and removes it. */
  drop(): Promise<void>;
};

/** Databases that a killed test run left behind are removed after this many seconds. */
const FORGOTTEN_AFTER_S = 3 * 60 * 60;

type CreateOptions = {
  /** The server to make it on, by any URL of a login that may create databases. Default: the run's own. */
  readonly serverUrl?: string;
};

/**
 * Clones the migrated template into a new database (a few tens of milliseconds; the first call after a
 * migration changed takes seconds). A test run that is killed before `drop()` leaves it to a later run.
 */
export async function createTestDatabase(options: CreateOptions = {}): Promise<TestDatabase> {
  const serverUrl = options.serverUrl ?? (await findBackend()).databaseUrl;
  const name = `mainstay_test_${Math.floor(Date.now() / 1000)}_${randomBytes(5).toString("hex")}`;
  await asAdmin(serverUrl, async (admin) => {
    const template = await prepareTemplate(admin, serverUrl);
    await removeForgotten(admin);
    await cloneWhenLeft(admin, template, name);
  });
  return {
    url: databaseOn(serverUrl, name),
    drop: () => asAdmin(serverUrl, async (admin) => {
      await admin.query(`drop database if exists ${name} with (force)`);
    }),
  };
}

async function asAdmin(serverUrl: string, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = await openAdmin(serverUrl);
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

/** A statistics worker may look at the template for a moment: 55006, then again. */
async function cloneWhenLeft(admin: pg.Client, template: string, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await admin.query(`create database ${name} template ${template}`);
      return;
    } catch (error) {
      if (codeOf(error) !== "55006" || tries === 50) throw error;
      await sleep(100);
    }
  }
}

async function removeForgotten(admin: pg.Client): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    `select datname as name from pg_database
     where datname ~ '^mainstay_test_[0-9]+_[0-9a-f]+$'
       and split_part(datname, '_', 3)::bigint < extract(epoch from now()) - $1::int
     limit 20`,
    [FORGOTTEN_AFTER_S],
  );
  for (const { name } of rows) {
    await admin.query(`drop database if exists ${name} with (force)`).catch(() => undefined); // another run removes it too
  }
}
