import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** A peer whose beat is older than its lease less two heartbeats, or lies in the future. */
export type OverduePeer = {
  id: string;
  /** bigint as text. */
  beatNo: string;
  /** On the database's clock; negative: the clock was set back since. */
  ageMs: number;
  leaseMs: number;
};

/** A live worker that comes after the asker in the ring. */
export type RingPeer = { id: string; lifeline: string };

/** What a beat's answer tells: the own number, the peers that are overdue, the live workers that come next. */
export type Beat = { beatNo: string; overdue: OverduePeer[]; ring: RingPeer[] };

const beat = statement<{ beatNo: string; overdue: OverduePeer[] | null; ring: RingPeer[] | null }>("incarnations.beat", `
with input as (
  select $1::uuid as id, $2::int * interval '1 millisecond' as heartbeat, $3::int as most
), renewed as (
  update incarnations n set beat_no = n.beat_no + 1, beat_at = now(), lapsed_trigger = null
  from input i
  where n.id = $1::uuid and n.lapsed_at is null and n.ended_at is null
  returning n.id, n.beat_no
), next as (
  (select p.id, p.lifeline, 0 as turn from incarnations p
    where p.lapsed_at is null and p.ended_at is null and p.role = 'worker' and p.id > $1::uuid order by p.id limit $3::int)
  union all
  (select p.id, p.lifeline, 1 from incarnations p
    where p.lapsed_at is null and p.ended_at is null and p.role = 'worker' and p.id < $1::uuid order by p.id limit $3::int)
)
select r.beat_no::text as "beatNo",
  (select jsonb_agg(jsonb_build_object('id', o.id, 'beatNo', o.beat_no::text, 'leaseMs', o.lease_ms,
      'ageMs', (extract(epoch from now() - o.beat_at) * 1000)::float8))
    from (select p.* from incarnations p, input i
      where p.lapsed_at is null and p.ended_at is null and p.id <> i.id
        and (p.beat_at < now() - (p.lease_ms * interval '1 millisecond' - 2 * i.heartbeat) or p.beat_at > now() + i.heartbeat)
      order by p.beat_at limit 100) o) as overdue,
  (select jsonb_agg(jsonb_build_object('id', f.id, 'lifeline', f.lifeline::text) order by f.turn, f.id)
    from (select * from next order by turn, id limit $3::int) f) as ring
from renewed r`);

/**
 * Proves life, and tells in the same statement which peers are overdue and which `ring` live workers come next.
 * Undefined: this incarnation has lapsed or ended; it must drop all it holds (rule H2).
 */
export async function beatIncarnation(db: Queryable, me: { id: string; heartbeatMs: number; ring: number }): Promise<Beat | undefined> {
  const [row] = await db.query(beat, [me.id, me.heartbeatMs, me.ring]);
  return row && { beatNo: row.beatNo, overdue: row.overdue ?? [], ring: row.ring ?? [] };
}
