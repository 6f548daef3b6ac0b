import pg from "pg";
import type { DatabaseOptions, Queryable } from "../database.js";
import { refusesSettings } from "../errors.js";
import { statement } from "../statement.js";
import { openSession } from "./open-session.js";

/** What is looked at: the working pool as it was opened, and the address that shall lead to the server itself. */
export type ConnectionsToCheck = Pick<DatabaseOptions, "pooler" | "statementTimeoutMs" | "idleInTransactionMs"> & Readonly<{
  db: Queryable;
  directUrl: string;
}>;

/** A process cannot work over these connections; the message says what was seen and what to do. It bears no address. */
export class ConnectionsRefused extends Error {
  override readonly name = "ConnectionsRefused";
}

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

/**
 * Makes sure, before a process begins, that its working pool bears the session settings (rule H14) and that its direct
 * address leads to the server itself, without a pooler between.
 *
 * @throws ConnectionsRefused when they do not; any other error when the server could not be asked.
 */
export async function checkConnections(connections: ConnectionsToCheck): Promise<void> {
  await checkPool(connections);
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

async function checkDirect({ directUrl, statementTimeoutMs, idleInTransactionMs }: ConnectionsToCheck): Promise<void> {
  const session = await openSession({
    url: directUrl, applicationName: "mainstay check", statementTimeoutMs, idleInTransactionMs, connectTimeoutMs: statementTimeoutMs, onEnd: () => undefined,
  }).catch((error: unknown) => { throw refusesSettings(error) ? new ConnectionsRefused(betweenDirect) : error; });
  try {
    const [seen] = await session.query(readPid, []);
    // a pooler greets with a number of its own instead of the server process's
    if (seen?.pid !== session.pid) throw new ConnectionsRefused(betweenDirect);
  } finally {
    await session.close();
  }
}

const within = (value: number, most: number): boolean => value > 0 && value <= most;

const betweenPool =
  "DATABASE_URL leads through a pooler: session settings do not arrive. " +
  "Set MAINSTAY_DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to an address past the pooler";
const betweenDirect =
  "DATABASE_DIRECT_URL (DATABASE_URL where it is not set) leads through a pooler: lifelines, LISTEN and migrations belong to a session of the server itself. " +
  "Set DATABASE_DIRECT_URL to an address past the pooler";
