import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** One page of runs that were looked at. */
export type PurgePage = {
  seen: number;
  purged: number;
  /** Where the next page begins; null: this was the last one. */
  last: string | null;
};

const purge = statement<PurgePage>("retention.purge_runs", `
with input as (
  select $1::uuid as after, $2::bigint * interval '1 millisecond' as keep, $3::bigint * interval '1 millisecond' as grace
), page as (
  -- ids are uuid v7: a run that ended so long ago began before, so its id lies below that instant's
  select r.id from input i join runs r on r.id > i.after
    and r.id < (lpad(to_hex((extract(epoch from now() - i.keep) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
  order by r.id limit $4::int
), locked as (
  -- the strongest lock: a fork of it waits, or is born first and then needs it no more
  select r.id, r.lineage from page p join runs r on r.id = p.id cross join input i
  where r.status in ('completed', 'failed', 'cancelled') and r.finished_at < now() - i.keep
    and (r.pinned_until is null or r.pinned_until < now())
    and not exists (select from dead_letters d where d.run_id = r.id and (d.expires_at + i.grace > now() or d.state = 'NEW_ATTEMPT'))
  for update of r skip locked
), events as (
  delete from run_events e using locked l where e.run_id = l.id
), nodes as (
  delete from run_nodes n using locked l where n.run_id = l.id
), outcomes as (
  delete from recorded_outcomes o using locked l where o.run_id = l.id
), tickets as (
  delete from outbox o using locked l where o.run_id = l.id
), ledger as (
  -- rows live as long as any run of their lineage; a business key outlives its runs while its outcome is open
  delete from effects e using locked l
  where e.run_id = l.id and not exists (select from runs o where o.lineage = e.lineage and o.id <> l.id)
    and (e.business_key is null or e.state in ('confirmed', 'absent'))
), gone as (
  delete from runs r using locked l where r.id = l.id returning r.id
)
select (select count(*)::int from page) as seen, (select count(*)::int from gone) as purged,
  (select id from page order by id desc limit 1) as last`, { plan: "custom" });

/**
 * Takes away runs that ended more than `keepMs` ago with all that is recorded of them, a page of `limit` at a time by id.
 * Passed over: what is pinned, what has a dead letter that is not yet `graceMs` past its own time or whose attempt is under
 * way, and what others have locked. Dead letters stay: they are the tombstones.
 */
export async function purgeRuns(
  db: Queryable, { after, keepMs, graceMs, limit = 100 }: { after: string; keepMs: number; graceMs: number; limit?: number },
): Promise<PurgePage> {
  const [row] = await db.query(purge, [after, keepMs, graceMs, limit]);
  if (row === undefined) throw new Error("retention.purge_runs gave no row");
  return row;
}
