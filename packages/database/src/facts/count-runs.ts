import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const runs = statement<{ status: string; n: number }>("facts.count_runs", `
select r.status, count(*)::float8 as n from runs r group by r.status`, { plan: "custom" });

/** How many runs stand in the database, by status. Reads the whole table: for a scrape, cached. */
export async function countRuns(db: Queryable): Promise<ReadonlyMap<string, number>> {
  return new Map((await db.query(runs, [])).map(({ status, n }) => [status, n]));
}
