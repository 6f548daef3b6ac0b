import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** `lagMs`: since it was due, on the database's clock. `tries`: how often it was taken, this time included. */
export type OutboxRow = { seq: string; runId: string; pool: string; lagMs: number; tries: number };

/** The rows a relay has taken, and when the next one falls due. */
export type OutboxBatch = {
  rows: OutboxRow[];
  /** Milliseconds until the next row is due, within the horizon; null: none. */
  nextDueMs: number | null;
};

const take = statement<{ seq: string | null; run_id: string | null; pool: string | null; lag_ms: number | null; tries: number | null; next_due_ms: number | null }>("outbox.take", `
with input as (
  select $1::uuid as taken_by, $3::int as stale_ms, $4::int as horizon_ms
), published as (
  delete from outbox where seq = any($6::bigint[])
), due as (
  select o.seq, o.run_id from outbox o, input i
  where o.due_at <= now() and o.due_at > coalesce(now() - $5::int * interval '1 millisecond', '-infinity')
    and (o.taken_at is null or o.taken_at < now() - i.stale_ms * interval '1 millisecond') and o.seq <> all($6::bigint[])
  order by o.due_at, o.seq limit $2::int
  for update of o skip locked
), judged as (
  -- a run that no longer waits needs no ticket; "offset 0" keeps this a look by key, one a row
  select d.seq, coalesce(w.waits, false) as waits
  from due d left join lateral (
    select r.owner is null and r.status in ('pending', 'running', 'waiting-external') and r.stop_requested is null as waits
    from runs r where r.id = d.run_id offset 0
  ) w on true
), dropped as (
  delete from outbox o using judged j where o.seq = j.seq and not j.waits
), taken as (
  update outbox o set taken_by = i.taken_by, taken_at = now(), tries = o.tries + 1
  from judged j, input i
  where o.seq = j.seq and j.waits
  returning o.seq, o.run_id, o.pool, o.due_at, o.tries
)
select t.seq::text, t.run_id, t.pool, (extract(epoch from now() - t.due_at) * 1000)::float8 as lag_ms,
  t.tries, null::float8 as next_due_ms
from taken t
union all
select null, null, null, null, null, (extract(epoch from min(o.due_at) - now()) * 1000)::float8
from outbox o, input i where o.due_at > now() and o.due_at < now() + i.horizon_ms * interval '1 millisecond'
order by lag_ms desc nulls last, seq`);

/**
 * Takes at most `limit` due rows for a relay, oldest first, in autocommit; rows that another relay took more than
 * `staleMs` ago are taken again. Rows whose run no longer waits are dropped on the way.
 *
 * `recentMs`: only rows that fell due since then. Rows that were deleted stand in the index until the oldest snapshot is
 * gone, and a look from the beginning passes all of them; every so often it must be one, for rows that were committed late.
 *
 * `published`: rows of an earlier batch whose tickets the broker has acknowledged; they are deleted on the way.
 *
 * Crash after publishing and before the delete: the same tickets are published again, and only a claim admits.
 */
export async function takeOutbox(
  db: Queryable,
  { relay, limit, staleMs, horizonMs, recentMs, published = [] }:
  { relay: string; limit: number; staleMs: number; horizonMs: number; recentMs?: number | undefined; published?: readonly string[] },
): Promise<OutboxBatch> {
  const rows: OutboxRow[] = [];
  let nextDueMs: number | null = null;
  for (const row of await db.query(take, [relay, limit, staleMs, horizonMs, recentMs ?? null, published])) {
    if (row.seq !== null && row.run_id !== null && row.pool !== null) rows.push({ seq: row.seq, runId: row.run_id, pool: row.pool, lagMs: row.lag_ms ?? 0, tries: row.tries ?? 0 });
    else nextDueMs = row.next_due_ms;
  }
  return { rows, nextDueMs };
}
