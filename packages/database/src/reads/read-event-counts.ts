import type { Database } from "../database.js";
import { statement } from "../statement.js";

const counts = statement<{ id: string; eventCount: number }>("reads.event_counts", `
select r.id, r.event_seq as "eventCount" from runs r where r.id = any($1::uuid[])`);

/**
 * How many events each of some runs of a workspace has, by run id. One statement for all streams of a workspace that
 * wait for news: only those whose count has grown need a read of their own.
 */
export async function readEventCounts(
  db: Database,
  workspace: string,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.read(workspace, (transaction) => transaction.query(counts, [runIds]));
  return new Map(rows.map((row) => [row.id, row.eventCount]));
}
