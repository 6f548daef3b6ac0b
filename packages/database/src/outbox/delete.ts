import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const published = statement<{ seq: string }>("outbox.delete", `
delete from outbox where seq = any($1::bigint[]) returning seq::text`);

/** Removes rows whose tickets the broker has acknowledged. */
export async function deleteOutbox(db: Queryable, seqs: readonly string[]): Promise<number> {
  return (await db.query(published, [seqs])).length;
}
