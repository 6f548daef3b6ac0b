import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { codeOf } from "../errors.js";

const stamp = statement<{ id: string }>("ops_events.stamp", `
with base as (
  select coalesce(max(position), 0) as position from ops_events
), next as (
  select e.id, row_number() over (order by e.at, e.id) as turn
  from (select id, at from ops_events where position is null order by at, id limit $1::int) e
)
update ops_events e set position = b.position + n.turn
from next n, base b
where e.id = n.id and e.position is null
returning e.id`, { plan: "custom" });

/**
 * Gives committed operations events dense positions, at most `limit`, in the order of their instants; one that commits
 * late comes after those stamped before it, never between them. Fewer than `limit`: none is left.
 *
 * When another replica stamps at the same time the unique position lets one of the two through; the other answers
 * undefined and has changed nothing.
 */
export async function stampPositions(db: Queryable, limit = 1_000): Promise<number | undefined> {
  try {
    return (await db.query(stamp, [limit])).length;
  } catch (error) {
    if (codeOf(error) === "23505") return undefined;
    throw error;
  }
}
