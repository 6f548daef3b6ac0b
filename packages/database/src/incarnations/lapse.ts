import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** A death as it was written down. */
export type Lapsed = {
  id: string;
  role: string;
  trigger: "heartbeat_expired" | "loop_wedged";
  /** Runs that shared the death. */
  held: number;
  /** From its last beat to the lapse, on the database's clock. */
  silentMs: number;
};

const lapse = statement<Lapsed>("incarnations.lapse", `
with input as (
  select * from unnest($1::uuid[], $2::bigint[]) as t(id, beat_no)
), locked as (
  select n.id from input i join incarnations n on n.id = i.id
  where n.lapsed_at is null and n.ended_at is null and n.beat_no = i.beat_no
    and (n.beat_at < now() - n.lease_ms * interval '1 millisecond' or n.beat_at > now() + $3::int * interval '1 millisecond')
  order by n.id
  for no key update of n skip locked
), lapsed as (
  update incarnations n set lapsed_at = now(), lapsed_trigger = coalesce(n.lapsed_trigger, 'heartbeat_expired'),
    held_at_lapse = (select count(*)::int from runs r where r.owner = n.id)
  from locked l
  where n.id = l.id
  returning n.id, n.role, n.lapsed_trigger as trigger, n.held_at_lapse as held,
    (extract(epoch from now() - n.beat_at) * 1000)::float8 as "silentMs"
)
select * from lapsed order by id`);

/**
 * Declares peers dead, each once (rule H2): only at the beat number the witness saw and only past their lease, or with
 * a beat further in the future than one heartbeat. The caller is a sound witness (rule H9), and takes their runs over
 * at once. Peers that another witness has locked are left out.
 */
export async function lapseIncarnations(
  db: Queryable, { seen, heartbeatMs }: { seen: readonly { id: string; beatNo: string }[]; heartbeatMs: number },
): Promise<Lapsed[]> {
  return db.query(lapse, [seen.map(({ id }) => id), seen.map(({ beatNo }) => beatNo), heartbeatMs]);
}
