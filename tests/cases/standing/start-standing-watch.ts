import type { TestFleet } from "@mainstay/testing";
import { readEnds } from "./read-ends.js";

/** What is looked at while a case goes on, because it does not show at its end. */
export type StandingWatch = Readonly<{
  /** Looks once more, now. */
  look: () => Promise<void>;
  /** Every end that was seen, as it was seen first. */
  ends: () => ReadonlyMap<string, string>;
  /** Ends that were seen to change. */
  moved: () => readonly string[];
  /** Sessions that were seen idle in a transaction for more than five seconds. */
  idleTransactions: () => readonly string[];
  /** The most sessions of the fleet that were seen at once. */
  peakSessions: () => number;
  stop: () => Promise<void>;
}>;

/** Milliseconds between two looks. */
const everyMs = 1_000;
/** An end is looked for again this long after its instant, so that one that was committed late is seen. */
const lateMs = 10_000;

/** Looks at a fleet's database every second until it is stopped; a look that fails, because the case took Postgres away, is left out. */
export function startStandingWatch(sql: TestFleet["sql"]): StandingWatch {
  const ends = new Map<string, string>();
  const moved: string[] = [];
  const idle = new Set<string>();
  let peak = 0;
  let since = new Date(0);
  let looking: Promise<void> = Promise.resolve();
  let waiting = 0;

  const lookOnce = async (): Promise<void> => {
    const [clock] = await sql<{ now: Date }>("select now() as now");
    for (const [id, seen] of await readEnds(sql, since)) {
      const first = ends.get(id);
      if (first === undefined) ends.set(id, seen);
      else if (first !== seen) moved.push(`${id} ended as ${first}, then it was ${seen}`);
    }
    since = new Date((clock?.now ?? new Date(0)).getTime() - lateMs);
    const sessions = await sql<{ name: string; idle: number | null }>(
      `select application_name as name, case when state like 'idle in transaction%' then extract(epoch from clock_timestamp() - state_change)::float8 end as idle
       from pg_stat_activity where datname = current_database() and application_name like 'mainstay%'`,
    );
    peak = Math.max(peak, sessions.length);
    for (const one of sessions) if ((one.idle ?? 0) > 5) idle.add(`${one.name} was idle in a transaction for ${one.idle?.toFixed(1)} s`);
  };
  const look = (): Promise<void> => {
    waiting += 1;
    const mine = looking.then(lookOnce).finally(() => { waiting -= 1; });
    looking = mine.catch(() => undefined);
    return mine;
  };
  const timer = setInterval(() => { if (waiting === 0) look().catch(() => undefined); }, everyMs);
  return {
    look,
    ends: () => ends,
    moved: () => moved,
    idleTransactions: () => [...idle],
    peakSessions: () => peak,
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
