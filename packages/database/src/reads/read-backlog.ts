import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

const backlog = statement<{ waiting: string }>("reads.backlog", `
select count(*) as waiting from (
  select from runs where owner is null and status in ('pending', 'running', 'waiting-external') and stop_requested is null
  limit $1::int
) w`, { plan: "custom" });

/** How many accepted runs nobody holds, counted up to `atMost`. For the soft cap of acceptance. */
export async function readBacklog(db: Queryable, atMost: number): Promise<number> {
  const [row] = await db.query(backlog, [atMost]);
  return Number(row?.waiting ?? 0);
}
