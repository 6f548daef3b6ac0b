import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { lifelineClasses, lockKey } from "./lifeline-classes.js";

const awaited = statement<{ freed: string }>("incarnations.await_lifeline", `
select pg_advisory_xact_lock_shared(${lifelineClasses.lifeline}, ${lockKey("$1::bigint")})::text as freed`);

/**
 * Waits until nobody holds the lifeline, and lets go of it at once. Rejects with 55P03 when the session's lock time-out
 * passes first: a waiting statement holds a snapshot, so the wait is short and armed again (rule H27).
 */
export async function awaitLifeline(db: Queryable, lifeline: string): Promise<void> {
  await db.query(awaited, [lifeline]);
}
