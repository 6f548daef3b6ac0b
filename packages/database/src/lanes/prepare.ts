import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const prepare = statement<{ name: string }>("lanes.prepare", `
insert into lanes (name) select name from unnest($1::text[]) as t(name) order by name
on conflict (name) do nothing returning name`);

/** Makes sure that each lane has its row. Safe to repeat from many processes. */
export async function prepareLanes(db: Queryable, names: readonly string[]): Promise<void> {
  await db.query(prepare, [names]);
}
