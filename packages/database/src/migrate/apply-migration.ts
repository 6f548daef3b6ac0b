import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { Migration } from "./read-migrations.js";
import { statements } from "./statements.js";

/**
 * Applies one file and records it. A crash anywhere before the commit leaves the start record alone, without
 * its "finished" mark, and nothing of the file; a concurrent build may leave an INVALID index besides.
 */
export async function applyMigration(client: pg.Client, migration: Migration): Promise<void> {
  const { name, sql, bare, concurrent, checksum } = migration;
  const id = randomUUID();
  await client.query(statements.recordStart, [id, checksum, name]);
  try {
    if (concurrent) await dropInvalidLeftovers(client, bare);
    else await client.query("begin");
    await client.query(sql);
    await client.query(statements.recordFinish, [id]);
    if (!concurrent) await client.query("commit");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!concurrent) await client.query("rollback").catch(() => undefined);
    await client.query(statements.recordFailure, [id, message]).catch(() => undefined);
    throw new Error(`${name}: ${message}`, { cause: error });
  }
}

/** A build that was cut off leaves an INVALID index, which `if not exists` would take for a good one. */
async function dropInvalidLeftovers(client: pg.Client, bare: string): Promise<void> {
  const creates = /\bindex\s+concurrently\s+(?:if\s+not\s+exists\s+)?(?:"((?:[^"]|"")+)"|([\w$]+))\s+on\b/gi;
  for (const [, quoted, plain] of bare.matchAll(creates)) {
    const name = quoted?.replaceAll('""', '"') ?? plain?.toLowerCase();
    const { rows } = await client.query<{ index: string }>(statements.findInvalidIndex, [name]);
    for (const { index } of rows) await client.query(`drop index concurrently ${index}`);
  }
}
