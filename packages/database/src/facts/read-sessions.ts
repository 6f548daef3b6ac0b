import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** Sessions of one role; `oldest` snapshot in seconds since the epoch, 0: none is held. */
export type SessionFacts = { role: string; n: number; oldest: number };

const sessions = statement<SessionFacts>("facts.read_sessions", `
select coalesce(substring(a.application_name from '^mainstay[- ](api|relay|worker|supervisor)'), 'other') as role, count(*)::float8 as n,
  coalesce(extract(epoch from min(coalesce(a.xact_start, a.query_start)) filter (where a.backend_xmin is not null and a.pid <> pg_backend_pid())), 0)::float8 as oldest
from pg_stat_activity a where a.datname = current_database()
group by 1`, { plan: "custom" });

/** The sessions on this database by role, told by their names, and the oldest snapshot each role holds. */
export function readSessions(db: Queryable): Promise<SessionFacts[]> {
  return db.query(sessions, []);
}
