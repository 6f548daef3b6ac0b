import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { lifelineClasses, lockKey } from "./lifeline-classes.js";

/** What the server says of a peer whose lifeline was seen free. */
export type Doubt = {
  /** Neither lapsed nor ended. */
  live: boolean;
  /** A session of it still stands, its lifeline's or its heartbeat's; or it has not beaten since the asker's session began. */
  connected: boolean;
  /** The asker's own lifeline is held. */
  mine: boolean;
  /** Live incarnations, and how many of their lifelines are free. */
  lifelines: number;
  free: number;
};

const doubt = statement<Doubt>("incarnations.doubt", `
with held as (
  select l.classid::bigint as class, l.objid::bigint as key from pg_locks l
  where l.locktype = 'advisory' and l.objsubid = 2 and l.granted and l.mode = 'ExclusiveLock'
    and l.classid in (${lifelineClasses.lifeline}, ${lifelineClasses.pulse})
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
), live as (
  select n.id,
    exists (select from held h where h.class = ${lifelineClasses.lifeline} and h.key = ${lockKey("n.lifeline")}) as lifeline,
    exists (select from held h where h.class = ${lifelineClasses.pulse} and h.key = ${lockKey("n.lifeline")}) as pulse
  from incarnations n where n.lapsed_at is null and n.ended_at is null
), back as (
  -- after an outage a peer must have had the time to come back: it has beaten since this session began, or it is not doubted
  select n.id from incarnations n, pg_stat_activity a
  where n.id = $1::uuid and a.pid = pg_backend_pid() and n.beat_at > a.backend_start
)
select count(*) filter (where l.id = $1::uuid) > 0 as live,
  coalesce(bool_or(l.lifeline or l.pulse) filter (where l.id = $1::uuid), false)
    or (select count(*) = 0 from back) as connected,
  coalesce(bool_or(l.lifeline) filter (where l.id = $2::uuid), false) as mine,
  count(*)::int as lifelines, (count(*) filter (where not l.lifeline))::int as free
from live l`, { plan: "custom" });

/** Looks a second time, after the grace, at a peer whose lifeline was seen free, and at the asker's own standing. */
export async function doubtIncarnation(db: Queryable, { peer, me }: { peer: string; me: string }): Promise<Doubt> {
  const [row] = await db.query(doubt, [peer, me]);
  if (row === undefined) throw new Error("incarnations.doubt gave no row");
  return row;
}
