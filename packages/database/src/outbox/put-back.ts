import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** Rows to give back, and why. `alone`: the broker refused each of them by itself; else it was away. */
export type PutBack = Readonly<{ seqs: readonly string[]; reason: string; alone: boolean }>;

const putBack = statement<{ seq: string }>("outbox.put_back", `
update outbox set taken_by = null, taken_at = null, last_error = left($2::text, 200),
  due_at = now() + case when $3::boolean then least(30000, 250 * 2 ^ least(tries, 7)) else 500 end * interval '1 millisecond'
where seq = any($1::bigint[]) returning seq::text`);

/**
 * Gives rows back that could not be published, with the reason: after a refusal of the row itself with a back-off of
 * 0.5 s to 30 s, else due again in 0.5 s.
 */
export async function putBackOutbox(db: Queryable, { seqs, reason, alone }: PutBack): Promise<number> {
  return (await db.query(putBack, [seqs, reason, alone])).length;
}
