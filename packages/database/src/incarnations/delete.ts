import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const forget = statement<{ id: string }>("incarnations.delete", `
with due as (
  select n.id from incarnations n
  where coalesce(n.lapsed_at, n.ended_at) < now() - $1::bigint * interval '1 millisecond'
    and not exists (select from runs r where r.owner = n.id)
  order by n.id limit $2::int
  for update of n skip locked
)
delete from incarnations n using due d where n.id = d.id returning n.id`, { plan: "custom" });

/** Removes incarnations that have been dead for longer than `afterMs` and own nothing. Fewer than `limit`: none is left. */
export async function deleteIncarnations(db: Queryable, { afterMs, limit = 500 }: { afterMs: number; limit?: number }): Promise<number> {
  return (await db.query(forget, [afterMs, limit])).length;
}
