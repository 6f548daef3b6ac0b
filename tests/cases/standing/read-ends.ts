import type { TestFleet } from "@mainstay/testing";

/** Every ended run that was finished from `since` on, with what may never change again: status, and a digest of its end. */
export async function readEnds(sql: TestFleet["sql"], since = new Date(0)): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; seen: string }>(
    `select id, status || ' ' || md5(row(finished_at, outputs, error, failed_node, event_seq)::text) as seen
     from runs where status in ('completed', 'failed', 'cancelled') and finished_at >= $1`, [since]);
  return new Map(rows.map(({ id, seen }) => [id, seen]));
}
