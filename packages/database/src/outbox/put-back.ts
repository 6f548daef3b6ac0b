import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const putBack = statement<{ seq: string }>("outbox.put_back", `
update outbox set taken_by = null, taken_at = null, last_error = left($2::text, 200),
  due_at = now() + least(30000, 250 * 2 ^ least(tries, 7)) * interval '1 millisecond'
where seq = any($1::bigint[]) returning seq::text`);

/** Gives rows back that could not be published, with the reason and a back-off (0.5 s to 30 s). */
export async function putBackOutbox(db: Queryable, { seqs, reason }: { seqs: readonly string[]; reason: string }): Promise<number> {
  return (await db.query(putBack, [seqs, reason])).length;
}
