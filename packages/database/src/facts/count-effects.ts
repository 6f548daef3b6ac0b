import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const effects = statement<{ state: string; n: number }>("facts.count_effects", `
select e.state, count(*)::float8 as n from effects e group by e.state`, { plan: "custom" });

/** How many effects stand in the ledger, by state. Reads the whole table: for a scrape, cached. */
export async function countEffects(db: Queryable): Promise<ReadonlyMap<string, number>> {
  return new Map((await db.query(effects, [])).map(({ state, n }) => [state, n]));
}
