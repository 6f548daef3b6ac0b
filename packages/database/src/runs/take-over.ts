import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { limitsCte, releasedRows, releaseTail, type Released, type ReleaseLimits } from "./release-tail.js";
import { releaseValues } from "./release-values.js";

const lapsed = statement<Released>("runs.take_over", `
with input as (
  select * from unnest($1::uuid[]) as t(incarnation)
), ${limitsCte(3)}, dead as (
  select n.id, n.beat_at,
    -- a claim that was on its way at the lapse shared the death too
    greatest(coalesce(n.held_at_lapse, 0), (select count(*)::int from runs c where c.owner = n.id)) as cohort,
    case when n.lapsed_at is null then 'handed_back' else coalesce(n.lapsed_trigger, 'heartbeat_expired') end as trigger
  from input i join incarnations n on n.id = i.incarnation
  where n.lapsed_at is not null or n.ended_at is not null
), locked as (
  select r.*, case when d.trigger = 'handed_back' then 'hand_back' else 'take_over' end as kind, d.trigger, d.cohort,
    d.beat_at as since
  from dead d join runs r on r.owner = d.id
  limit $2::int
  for no key update of r skip locked
), ${releaseTail}
${releasedRows}`);

/**
 * Takes over at most `limit` runs of incarnations that have lapsed or ended: the fence rises, nobody holds them, they
 * are due at once. Answers what it moved; fewer than `limit` says that nothing unlocked is left. Safe to repeat and to
 * run from many processes: a run is taken from the owner that the locked row names.
 *
 * A death is charged to a run only when it was alone in its process (rule H15).
 */
export async function takeOver(
  db: Queryable, { incarnations, limits, limit = 500 }: { incarnations: readonly string[]; limits: ReleaseLimits; limit?: number },
): Promise<Released[]> {
  return db.query(lapsed, [incarnations, limit, ...releaseValues(limits)]);
}
