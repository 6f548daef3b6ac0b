import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const withhold = statement<{ id: string }>("incarnations.withhold", `
update incarnations set lapsed_trigger = 'loop_wedged'
where id = $1::uuid and lapsed_at is null and ended_at is null
returning id`);

/**
 * Says why no beat comes: the work path is not attested. A lapse that follows is put down to it; the next beat takes
 * it back. False: the incarnation has lapsed or ended.
 */
export async function withholdBeat(db: Queryable, id: string): Promise<boolean> {
  return (await db.query(withhold, [id])).length > 0;
}
