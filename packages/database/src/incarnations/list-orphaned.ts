import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const orphaned = statement<{ id: string }>("incarnations.list_orphaned", `
select n.id from incarnations n
where (n.lapsed_at is not null or n.ended_at is not null) and exists (select from runs r where r.owner = n.id)
order by coalesce(n.lapsed_at, n.ended_at) limit $1::int`, { plan: "custom" });

/** Incarnations that have died or ended and still own runs, the earliest first. Fallback of who lapsed them. */
export async function listOrphaned(db: Queryable, limit = 100): Promise<string[]> {
  return (await db.query(orphaned, [limit])).map(({ id }) => id);
}
