import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** Open dead letters; `oldest` in seconds since the epoch. For messages of the queue `class` is the reason and `state` open. */
export type OpenDeadLetters = { family: "run" | "message"; class: string; state: string; n: number; oldest: number };

const open = statement<OpenDeadLetters>("facts.read_dead_letters", `
select 'run' as family, d.class, d.state, count(*)::float8 as n, extract(epoch from min(d.created_at))::float8 as oldest
from dead_letters d where d.state not in ('COMPLETE', 'RESOLVED', 'EXPIRED') group by d.class, d.state
union all
select 'message', m.reason, m.state, count(*)::float8, extract(epoch from min(m.created_at))::float8
from message_dead_letters m where m.state = 'open' group by m.reason, m.state`, { plan: "custom" });

/** Open dead letters of runs by class and state, and open dead messages of the queue by reason; never added up. */
export function readOpenDeadLetters(db: Queryable): Promise<OpenDeadLetters[]> {
  return db.query(open, []);
}
