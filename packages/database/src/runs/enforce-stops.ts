import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { limitsCte, releasedRows, releaseTail, type Released, type ReleaseLimits } from "./release-tail.js";
import { releaseValues } from "./release-values.js";

const overdueStops = statement<Released>("runs.enforce_stops", `
with input as (
  select $1::int as grace_ms, $2::int as most
), ${limitsCte(3)}, locked as (
  select r.*, 'stop' as kind, 'stop' as trigger, 0 as cohort, now() as since
  from runs r, input i
  where r.stop_requested is not null and r.status not in ('completed', 'failed', 'cancelled', 'paused')
    -- nodes under way may take as long as they need when a pause lets them finish
    and (r.owner is null or (r.stop_drain is distinct from 'drain-current-node'
      and r.stop_at <= now() - i.grace_ms * interval '1 millisecond'))
  order by r.stop_at limit $2::int
  for no key update of r skip locked
), ${releaseTail}
${releasedRows}`, { plan: "custom" });

/**
 * Ends or pauses what was asked to stop and is held by nobody, or whose holder has not obeyed within `graceMs`. A pause
 * that lets the nodes under way finish has no grace: a live holder is waited for, a dead one is taken over.
 */
export async function enforceStops(db: Queryable, { graceMs, limits, limit = 100 }: { graceMs: number; limits: ReleaseLimits; limit?: number }): Promise<Released[]> {
  return db.query(overdueStops, [graceMs, limit, ...releaseValues(limits)]);
}
