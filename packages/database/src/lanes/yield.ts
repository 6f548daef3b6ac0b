import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const yielded = statement<{ name: string }>("lanes.yield", `
update lanes set until = '-infinity' where holder = $1::uuid and until > now() returning name`);

/** Gives all lanes of a holder up: another replica takes them with its next renewal. */
export async function yieldLanes(db: Queryable, holder: string): Promise<number> {
  return (await db.query(yielded, [holder])).length;
}
