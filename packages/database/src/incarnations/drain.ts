import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const drain = statement<{ id: string }>("incarnations.drain", `
update incarnations set draining_at = coalesce(draining_at, now())
where id = $1::uuid and lapsed_at is null and ended_at is null
returning id`);

/** Tells that the incarnation claims nothing more. False: it has lapsed or ended. */
export async function drainIncarnation(db: Queryable, id: string): Promise<boolean> {
  return (await db.query(drain, [id])).length > 0;
}
