import pg from "pg";
import type { DatabaseOptions, Queryable } from "../database.js";
import { refusesSettings } from "../errors.js";
import { statement } from "../statement.js";
import { betweenDirect, betweenPool, ConnectionsRefused } from "./connections-refused.js";
import { openSession, type Session } from "./open-session.js";

/** What is looked at: the working pool as it was opened, and the address that shall lead to the server itself. */
export type ConnectionsToCheck = Pick<DatabaseOptions, "url" | "pooler" | "statementTimeoutMs" | "idleInTransactionMs"> & Readonly<{
  db: Queryable;
  directUrl: string;
}>;

type Settings = {
  login: string;
  database: string;
  default_transaction_isolation: string;
  synchronous_commit: string;
  TimeZone: string;
  /** Milliseconds; 0: none. */
  statement_timeout: number;
  lock_timeout: number;
  idle_in_transaction_session_timeout: number;
};

const readSettings = statement<Settings>("sessions.read_settings", `
select current_user as login, current_database() as database,
  current_setting('default_transaction_isolation') as default_transaction_isolation,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('TimeZone') as "TimeZone",
  max(s.setting::int) filter (where s.name = 'statement_timeout') as statement_timeout,
  max(s.setting::int) filter (where s.name = 'lock_timeout') as lock_timeout,
  max(s.setting::int) filter (where s.name = 'idle_in_transaction_session_timeout') as idle_in_transaction_session_timeout
from pg_settings s where s.name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')`, { plan: "custom" });

const readPid = statement<{ pid: number }>("sessions.read_pid", "select pg_backend_pid() as pid", { plan: "custom" });

/** A pooler that gives sessions by the transaction is known by them within this many looks; a busy one may hide for a few. */
const LOOKS = 20;

/**
 * Makes sure, before a process begins, that its working pool bears the session settings (rule H14), that what it prepares
 * stays in its sessions, and that its direct address leads to the server itself, without a pooler between.
 *
 * @throws ConnectionsRefused when they do not; any other error when the server could not be asked.
 */
export async function checkConnections(connections: ConnectionsToCheck): Promise<void> {
  await checkPool(connections);
  if (connections.pooler !== "transaction" && connections.url !== connections.directUrl) await checkKept(connections);
  await checkDirect(connections);
}

async function checkPool({ db, pooler, statementTimeoutMs, idleInTransactionMs }: ConnectionsToCheck): Promise<void> {
  const [settings] = await db.query(readSettings, []).catch((error: unknown) => { throw refusesSettings(error) ? new ConnectionsRefused(betweenPool) : error; });
  if (settings === undefined) throw new Error("sessions.read_settings gave no row");
  const most = { statement_timeout: statementTimeoutMs, lock_timeout: statementTimeoutMs, idle_in_transaction_session_timeout: idleInTransactionMs };
  const exact = { default_transaction_isolation: "read committed", synchronous_commit: "on", TimeZone: "UTC" };
  const commits = ["on", "local", "remote_write", "remote_apply"];
  const wrong = [
    ...Object.entries(most).filter(([name]) => !within(settings[name as keyof typeof most], most[name as keyof typeof most])),
    ...Object.entries(exact).filter(([name, value]) => name === "synchronous_commit" ? !commits.includes(settings.synchronous_commit) : settings[name as keyof typeof exact] !== value),
  ];
  if (wrong.length === 0) return;
  if (pooler !== "transaction") throw new ConnectionsRefused(betweenPool);
  const place = `alter role ${pg.escapeIdentifier(settings.login)} in database ${pg.escapeIdentifier(settings.database)}`;
  throw new ConnectionsRefused(
    `sessions behind the pooler must bear the settings that cannot be sent through it; ${wrong.map(([name]) => `${name} is ${String(settings[name as keyof Settings])}`).join(", ")}. ` +
    `Run, then let the pooler reconnect: ${wrong.map(([name, value]) => `${place} set ${name} = '${String(value)}';`).join(" ")}`,
  );
}

/** The settings may be the login's own: then only the sessions tell that another one serves each transaction. */
async function checkKept(connections: ConnectionsToCheck): Promise<void> {
  const open = () => openFor(connections, connections.url, betweenPool);
  const one = await open();
  try {
    if ((await pidOf(one)) === one.pid) return; // the server itself
    const other = await open();
    try {
      const seen = [await pidOf(one), await pidOf(other)];
      for (let look = 0; look < LOOKS; look++) {
        const now = [await pidOf(one), await pidOf(other)];
        if (now[0] === now[1] || now[0] !== seen[0] || now[1] !== seen[1]) throw new ConnectionsRefused(betweenPool);
      }
    } finally {
      await other.close();
    }
  } finally {
    await one.close();
  }
}

async function checkDirect(connections: ConnectionsToCheck): Promise<void> {
  const session = await openFor(connections, connections.directUrl, betweenDirect);
  try {
    // a pooler greets with a number of its own instead of the server process's
    if ((await pidOf(session)) !== session.pid) throw new ConnectionsRefused(betweenDirect);
  } finally {
    await session.close();
  }
}

async function openFor({ statementTimeoutMs, idleInTransactionMs }: ConnectionsToCheck, url: string, refusal: string): Promise<Session> {
  return openSession({
    url, applicationName: "mainstay check", statementTimeoutMs, idleInTransactionMs, connectTimeoutMs: statementTimeoutMs, onEnd: () => undefined,
  }).catch((error: unknown) => { throw refusesSettings(error) ? new ConnectionsRefused(refusal) : error; });
}

async function pidOf(session: Session): Promise<number | undefined> {
  return (await session.query(readPid, []))[0]?.pid;
}

const within = (value: number, most: number): boolean => value > 0 && value <= most;
