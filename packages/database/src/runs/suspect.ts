import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { limitsCte, releasedRows, releaseTail, type Released, type ReleaseLimits } from "./release-tail.js";
import { releaseValues } from "./release-values.js";

const suspect = statement<Released>("runs.suspect", `
with input as (
  select * from unnest($1::uuid[]) as t(incarnation)
), ${limitsCte(3)}, crowd as (
  select i.incarnation, (select count(*)::int from runs c where c.owner = i.incarnation) as cohort from input i
), locked as (
  select r.*, 'suspect' as kind, 'session_lost' as trigger, c.cohort, now() as since
  from crowd c join runs r on r.owner = c.incarnation
  where r.open_effects = 0 and not r.suspicion_used
  limit $2::int
  for no key update of r skip locked
), ${releaseTail}
${releasedRows}`);

/**
 * Releases the runs of an incarnation whose session is gone (death watch): those without an open effect, each once in
 * its life between two checkpoints. Suspicion counts no crash; the suspect, should it live, is fenced off.
 */
export async function suspectRuns(
  db: Queryable, { incarnations, limits, limit = 500 }: { incarnations: readonly string[]; limits: ReleaseLimits; limit?: number },
): Promise<Released[]> {
  return db.query(suspect, [incarnations, limit, ...releaseValues(limits)]);
}
