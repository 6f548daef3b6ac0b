import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

const traceparents = statement<{ traceparent: string }>("reads.traceparents", `
select r.traceparent from unnest($1::uuid[]) as i(id) join runs r on r.id = i.id where r.traceparent is not null`);

/** The trace contexts that were stored with these runs, in no order; runs without one are left out. Asked by relays that trace. */
export async function readTraceparents(db: Queryable, runIds: readonly string[]): Promise<string[]> {
  return (await db.query(traceparents, [runIds])).map(({ traceparent }) => traceparent);
}
