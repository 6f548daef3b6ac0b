import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** One page of records that were looked at. */
export type RecordPage = {
  /** Records looked at, and how many of them were removed. */
  seen: number;
  removed: number;
  /** Where the next page begins; null: this was the last one. */
  last: string | null;
};

const ended = statement<RecordPage>("retention.delete_ended_records", `
with input as (
  select $1::uuid as after, $2::bigint as keep_ms
), page as (
  -- ids are uuid v7: a run that ended so long ago began before, so its id lies below that instant's
  select c.workspace, c.operation, c.key, c.run_id from idempotency_records c, input i
  where c.run_id > $1::uuid and c.expires_at is null
    and c.run_id < (lpad(to_hex(((extract(epoch from now()) * 1000)::bigint - i.keep_ms)), 12, '0') || repeat('0', 20))::uuid
  order by c.run_id limit $3::int
), gone as (
  delete from idempotency_records c using page p, input i
  where c.workspace = p.workspace and c.operation = p.operation and c.key = p.key and c.run_id = p.run_id
    and not exists (select from runs r where r.id = p.run_id
      and (r.finished_at is null or r.finished_at >= now() - i.keep_ms * interval '1 millisecond'))
  returning 1
)
select (select count(*)::int from page) as seen, (select count(*)::int from gone) as removed,
  (select run_id from page order by run_id desc limit 1) as last`, { plan: "custom" });

/**
 * Removes idempotency records whose run ended more than `keepMs` ago or is gone. Goes through the records by run id, a
 * page of `limit` at a time; a record whose run is still needed is passed over.
 */
export async function deleteEndedRecords(
  db: Queryable, { after, keepMs, limit = 1_000 }: { after: string; keepMs: number; limit?: number },
): Promise<RecordPage> {
  const [row] = await db.query(ended, [after, keepMs, limit]);
  if (row === undefined) throw new Error("retention.delete_ended_records gave no row");
  return row;
}
