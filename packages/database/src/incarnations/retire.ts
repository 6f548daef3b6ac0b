import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const retire = statement<{ held: number }>("incarnations.retire", `
update incarnations n set ended_at = now(), held_at_lapse = (select count(*)::int from runs r where r.owner = n.id)
where n.id = $1::uuid and n.lapsed_at is null and n.ended_at is null
returning n.held_at_lapse as held`);

/**
 * Says good-bye. Answers how many runs it still holds, which may be taken over from now on; undefined: it has lapsed
 * or ended before.
 */
export async function retireIncarnation(db: Queryable, id: string): Promise<number | undefined> {
  return (await db.query(retire, [id]))[0]?.held;
}
