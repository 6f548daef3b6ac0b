import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const served = statement<{ key: string; ordinal: string }>("requirements.list", `
select key, (select coalesce(max(ordinal), 0)::text from requirements) as ordinal
from requirements where pool = $1::text and capabilities <@ $2::text[]`);

/** The requirement keys of a pool that somebody with these capabilities can serve. */
export async function listServedRequirements(db: Queryable, { pool, capabilities }: { pool: string; capabilities: readonly string[] }): Promise<string[]> {
  return (await db.query(served, [pool, capabilities])).map(({ key }) => key);
}
