import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { lifelineClasses, lockKey } from "./lifeline-classes.js";

const hold = statement<{ held: boolean }>("incarnations.hold_lifeline", `
select pg_try_advisory_lock($1::int, ${lockKey("$2::bigint")}) as held`);

/**
 * Makes a session's life visible: the lock stays until the session ends. False: an older session of this incarnation,
 * which the server has not yet given up, or a watcher's short look holds it; ask again.
 */
export async function holdLifeline(db: Queryable, { of, lifeline }: { of: keyof typeof lifelineClasses; lifeline: string }): Promise<boolean> {
  const [row] = await db.query(hold, [lifelineClasses[of], lifeline]);
  return row?.held ?? false;
}
