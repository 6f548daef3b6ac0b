import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { claimColumns, claimTail, type ClaimedRun } from "./claim-tail.js";
import { toClaimed, type Claimant } from "./claim.js";

const sweep = statement<Partial<ClaimedRun>>("runs.sweep", `
with input as (
  select claim_id, ordinal from unnest($1::uuid[]) with ordinality as t(claim_id, ordinal)
), me as (
  select $3::uuid as owner, $4::text[] as requires, $5::int + $2::int as room,
    exists (select from incarnations n where n.id = $3::uuid and (n.lapsed_at is not null or n.ended_at is not null)) as gone
), picked as (
  select p.id, row_number() over (order by p.sweep_at) as ordinal
  from (select distinct unnest(requires) as requires from me) mine cross join lateral (
    select r.id, r.sweep_at from runs r
    where r.requires = mine.requires and r.owner is null and r.status in ('pending', 'running', 'waiting-external')
      and r.stop_requested is null and r.sweep_at <= now()
      and (r.cohort_limit is null or r.cohort_limit >= (select room from me))
    order by r.sweep_at limit $2::int
    for no key update skip locked
  ) p
), locked as (
  select r.*, i.claim_id as new_claim_id
  from picked p join input i using (ordinal)
  cross join lateral (select r.* from runs r where r.id = p.id for no key update skip locked) r
), ${claimTail}
select ${claimColumns} from claimed c order by c.due_before, c.id`, { plan: "custom" });

/**
 * Claims at most `limit` runs that are due and overdue for a ticket, oldest first: the fallback of every lost hint, and
 * the only way without a broker. `claimIds` are minted by the caller, `limit` of them.
 *
 * After a lost reply the caller does not know what it holds: its next holdings audit hands that back (rule H1).
 */
export async function sweepRuns(db: Queryable, me: Claimant, claimIds: readonly string[]): Promise<ClaimedRun[]> {
  const rows = await db.query(sweep, [claimIds, claimIds.length, me.incarnation, me.requires, me.holding, me.leaseMs]);
  return rows.map(toClaimed);
}
