import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** What waits: `key` is a worker pool or a topic. `oldest` in seconds since the epoch; 0: none. */
export type Waiting = { what: "due_runs" | "outbox"; key: string; n: number; oldest: number };

const waiting = statement<Waiting>("facts.read_waiting", `
select 'due_runs' as what, r.pool as key, count(*)::float8 as n, extract(epoch from min(r.due_at))::float8 as oldest
from runs r
where r.owner is null and r.status in ('pending', 'running', 'waiting-external') and r.stop_requested is null and r.due_at <= now()
group by r.pool
union all
select 'outbox', o.topic, count(*)::float8, extract(epoch from min(o.due_at))::float8 from outbox o where o.due_at <= now() group by o.topic`,
{ plan: "custom" });

/** Runs that are due and held by nobody, by pool, and outbox rows that are due, by topic. */
export function readWaiting(db: Queryable): Promise<Waiting[]> {
  return db.query(waiting, []);
}
