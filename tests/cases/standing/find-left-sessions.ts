import { settle } from "./settle.js";
import type { Watched } from "./watched.js";

/** Besides its working pool a process has at most this many sessions: heartbeat, lifeline, two watches. */
const besides = 4;

/** Sessions above the budget of the living processes, and transactions that were seen idle for more than five seconds. */
export async function findLeftSessions({ fleet, watch, settleMs }: Watched): Promise<readonly string[]> {
  const each = Number(fleet.env["MAINSTAY_DB_POOL"] ?? 5) + besides;
  const above = await settle(async () => {
    const [row] = await fleet.sql<{ sessions: number }>("select count(*)::int as sessions from pg_stat_activity where datname = current_database() and application_name like 'mainstay%'");
    const living = fleet.fleet.processes().filter((one) => one.exit() === undefined).length;
    return (row?.sessions ?? 0) <= living * each ? [] : [`${row?.sessions ?? "?"} sessions of ${living} processes that may have ${each} each`];
  }, settleMs);
  return [...above, ...(watch?.idleTransactions() ?? [])];
}
