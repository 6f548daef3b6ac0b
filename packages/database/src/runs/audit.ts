import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import type { StopRequest } from "./progress.js";

/** A run that the database says this incarnation holds. */
export type Holding = { id: string; fence: string; heldMs: number; stopRequested: StopRequest; openEffects: number };

/** What the database says of one incarnation and of the work it could do. */
export type Audit = {
  holdings: Holding[];
  /** A run that this worker serves may be swept now. */
  sweepable: boolean;
  /** Milliseconds until the next sweepable instant within the horizon; null: none. */
  nextDueMs: number | null;
  /** Rises when a requirement is registered: read the list again. */
  requirements: string;
  lapsed: boolean;
};

const audit = statement<{ holdings: (Omit<Holding, "fence"> & { fence: string })[] | null; sweepable: boolean; next_due_ms: number | null; requirements: string; lapsed: boolean }>(
  "runs.audit", `
with input as (select $1::uuid as owner, $2::text[] as requires, $3::int as horizon_ms)
select
  (select jsonb_agg(jsonb_build_object('id', r.id, 'fence', r.fence::text, 'stopRequested',
    case r.stop_requested when 'cancel' then 'cancel' when 'pause' then 'pause_' || case r.stop_drain when 'immediate' then 'immediate' else 'draining' end end,
    'openEffects', r.open_effects,
    'heldMs', (extract(epoch from now() - r.claimed_at) * 1000)::bigint)) from runs r where r.owner = i.owner) as holdings,
  next.at <= now() as sweepable,
  (extract(epoch from next.at - now()) * 1000)::float8 as next_due_ms,
  (select coalesce(max(ordinal), 0)::text from requirements) as requirements,
  exists (select from incarnations n where n.id = i.owner and (n.lapsed_at is not null or n.ended_at is not null)) as lapsed
from input i left join lateral (
  select min(first.sweep_at) as at from unnest(i.requires) as mine(requires) cross join lateral (
    select r.sweep_at from runs r
    where r.requires = mine.requires and r.owner is null and r.status in ('pending', 'running', 'waiting-external')
      and r.stop_requested is null and r.sweep_at <= now() + i.horizon_ms * interval '1 millisecond'
    order by r.sweep_at limit 1
  ) first
) next on true`, { plan: "custom" });

/**
 * The holdings audit: what the database says this incarnation holds, which of it was asked to stop, whether anything
 * could be swept, all in one statement through the working pool. The heartbeat is renewed only while it succeeds.
 */
export async function auditHoldings(db: Queryable, me: { incarnation: string; requires: readonly string[]; horizonMs: number }): Promise<Audit> {
  const [row] = await db.query(audit, [me.incarnation, me.requires, me.horizonMs]);
  if (row === undefined) throw new Error("runs.audit gave no row");
  return { holdings: row.holdings ?? [], sweepable: row.sweepable, nextDueMs: row.next_due_ms, requirements: row.requirements, lapsed: row.lapsed };
}
