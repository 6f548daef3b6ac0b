import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** One page of runs that were looked at. */
export type CapPage = {
  /** Runs looked at, and how many of them got a deadline. */
  seen: number;
  capped: number;
  /** Where the next page begins; null: this was the last one. */
  last: string | null;
};

const cap = statement<{ seen: number; capped: number; last: string | null }>("lanes.cap_runs", `
with input as (
  select $1::uuid as after, $2::bigint as cap_ms
), page as (
  -- ids are uuid v7: what is older than the cap lies below the id of that instant
  select r.id from runs r, input i
  where r.id > $1::uuid
    and r.id < (lpad(to_hex(((extract(epoch from now()) * 1000)::bigint - i.cap_ms)), 12, '0') || repeat('0', 20))::uuid
  order by r.id limit $3::int
), locked as (
  select r.id, r.created_at from page p join runs r on r.id = p.id
  where r.deadline_at is null and r.status not in ('completed', 'failed', 'cancelled')
  order by r.id
  for no key update of r
), capped as (
  update runs r set deadline_at = r.created_at + i.cap_ms * interval '1 millisecond', run_timeout_ms = i.cap_ms
  from locked l, input i
  where r.id = l.id and r.deadline_at is null
  returning r.id
)
select (select count(*)::int from page) as seen, (select count(*)::int from capped) as capped,
  (select id from page order by id desc limit 1) as last`, { plan: "custom" });

/**
 * Gives runs without a deadline of their own the fleet's, once they have passed it; `enforceDeadlines` ends them. Goes
 * through the runs by id, a page of `limit` at a time.
 */
export async function capRuns(
  db: Queryable, { after, capMs, limit = 2_000 }: { after: string; capMs: number; limit?: number },
): Promise<CapPage> {
  const [row] = await db.query(cap, [after, capMs, limit]);
  if (row === undefined) throw new Error("lanes.cap_runs gave no row");
  return row;
}
