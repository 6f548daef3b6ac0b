import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const cancel = statement<{ told: boolean }>("incarnations.end_wait", `select pg_cancel_backend($1::int) as told`);

/** Ends the wait of another session of the same login; that statement rejects with 57014. */
export async function endWait(db: Queryable, pid: number): Promise<void> {
  await db.query(cancel, [pid]);
}
