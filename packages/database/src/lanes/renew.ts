import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** A lane as one statement left it. */
export type LaneLease = {
  name: string;
  /** The asker holds it, until `leftMs` from now. */
  held: boolean;
  /** Rises with every take-over; bigint as text. */
  token: string;
  leftMs: number;
  /** Seconds since the epoch; 0: never. */
  lastSuccess: number;
};

/** What one renewal told: the lanes, and whether there is anything to do. */
export type LaneView = {
  lanes: LaneLease[];
  /** Some incarnation has died or ended and still owns runs. */
  orphans: boolean;
  /** Some run has passed its deadline. */
  deadlines: boolean;
  /** Some stop is overdue, or asked of a run that nobody holds. */
  stops: boolean;
  /** Some operations event has no position yet. */
  unstamped: boolean;
};

type Row = { lanes: LaneLease[] | null; orphans: boolean; deadlines: boolean; stops: boolean; unstamped: boolean };

const renew = statement<Row>("lanes.renew", `
with input as (
  select $1::uuid as holder, $2::text[] as names, $3::int * interval '1 millisecond' as lease, $4::text[] as succeeded,
    $5::int * interval '1 millisecond' as stop_grace
), due as (
  select l.name from lanes l, input i
  where l.name = any(i.names) and (
    l.until < now()
    or (l.holder = i.holder and (l.until < now() + i.lease * 0.6 or l.name = any(i.succeeded)))
    or exists (select from incarnations n where n.id = l.holder and (n.lapsed_at is not null or n.ended_at is not null)))
  order by l.name
  for no key update of l skip locked
), renewed as (
  update lanes l set holder = i.holder, token = l.token + (l.holder is distinct from i.holder)::int, until = now() + i.lease,
    last_success_at = case when l.holder = i.holder and l.name = any(i.succeeded) then now() else l.last_success_at end
  from due d, input i
  where l.name = d.name
  returning l.name, l.holder, l.token, l.until, l.last_success_at
)
select
  (select jsonb_agg(jsonb_build_object('name', l.name, 'held', coalesce(r.holder, l.holder) = i.holder and coalesce(r.until, l.until) > now(),
      'token', coalesce(r.token, l.token)::text,
      'leftMs', greatest(0, extract(epoch from nullif(coalesce(r.until, l.until), '-infinity') - now()) * 1000)::float8,
      'lastSuccess', coalesce(extract(epoch from coalesce(r.last_success_at, l.last_success_at)), 0)::float8) order by l.name)
    from lanes l left join renewed r on r.name = l.name where l.name = any(i.names)) as lanes,
  exists (select from incarnations n where (n.lapsed_at is not null or n.ended_at is not null)
    and exists (select from runs o where o.owner = n.id)) as orphans,
  exists (select from runs p where p.deadline_at <= now() and p.status not in ('completed', 'failed', 'cancelled')) as deadlines,
  exists (select from runs s where s.stop_requested is not null and s.status not in ('completed', 'failed', 'cancelled', 'paused')
    and (s.owner is null or (s.stop_drain is distinct from 'drain-current-node' and s.stop_at <= now() - i.stop_grace))) as stops,
  exists (select from ops_events e where e.position is null) as unstamped
from input i`);

/**
 * One statement for all lanes of a replica: renews the leases it holds (those with less than 0.6 of `leaseMs` left),
 * takes over what is free, expired or held by a dead incarnation, notes which lanes `succeeded` since, and tells what
 * there is to do, so that an idle lane costs nothing.
 *
 * A lease saves work, it guards nothing: every statement of a lane is safe without it.
 */
export async function renewLanes(
  db: Queryable,
  { holder, names, leaseMs, succeeded, stopGraceMs }: { holder: string; names: readonly string[]; leaseMs: number; succeeded: readonly string[]; stopGraceMs: number },
): Promise<LaneView> {
  const [row] = await db.query(renew, [holder, names, leaseMs, succeeded, stopGraceMs]);
  if (row === undefined) throw new Error("lanes.renew gave no row");
  return { ...row, lanes: row.lanes ?? [] };
}
