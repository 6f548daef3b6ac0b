import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

const backlog = statement<{ workspace: string; waiting: string }>("reads.backlog", `
select workspace, count(*) as waiting from (
  select workspace, waiting_on from runs
  where owner is null and status in ('pending', 'running', 'waiting-external') and stop_requested is null
  limit 4 * $1::bigint
) w where waiting_on in ('dispatch', 'capacity') group by workspace`, { plan: "custom" });

/**
 * How many accepted runs wait for a worker, by workspace. At most four times `atMost` runs that nobody holds are looked
 * at: beyond that the numbers are least ones. Runs that wait for a time or for an answer are nobody's backlog. For the
 * soft caps of acceptance.
 */
export async function readBacklog(db: Queryable, atMost: number): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query(backlog, [atMost]);
  return new Map(rows.map(({ workspace, waiting }) => [workspace, Number(waiting)]));
}
