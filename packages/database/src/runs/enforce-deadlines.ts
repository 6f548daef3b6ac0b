import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { limitsCte, releasedRows, releaseTail, type Released, type ReleaseLimits } from "./release-tail.js";
import { releaseValues } from "./release-values.js";

const passed = statement<Released>("runs.enforce_deadlines", `
with input as (
  select $1::int as most
), ${limitsCte(2)}, locked as (
  select r.*, 'deadline' as kind, 'deadline' as trigger, 0 as cohort, now() as since
  from runs r, input i
  where r.deadline_at <= now() and r.status not in ('completed', 'failed', 'cancelled')
  order by r.deadline_at limit $1::int
  for no key update of r skip locked
), ${releaseTail}
${releasedRows}`, { plan: "custom" });

/**
 * Ends runs that have passed their deadline: the fence is taken, `cap.breached` told, the run buried with
 * `platform.run_timeout`, or as UNKNOWN when an unsafe effect is still open.
 */
export async function enforceDeadlines(db: Queryable, { limits, limit = 100 }: { limits: ReleaseLimits; limit?: number }): Promise<Released[]> {
  return db.query(passed, [limit, ...releaseValues(limits)]);
}
