import pg from "pg";
import type { Statement } from "./statement.js";
import { StatementTimeout, isAway } from "./errors.js";

/** How a working pool is opened. Times in milliseconds. */
export type DatabaseOptions = {
  url: string;
  /**
   * `transaction`: the URL leads through a pooler that may give every transaction another session. Then nothing is asked
   * of the session: no settings at its start, no statement prepared by name. Default `none`.
   */
  pooler?: "none" | "transaction";
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Connections of the working pool. */
  poolSize: number;
  /** Server-side bound of one statement; the client waits a little longer, then destroys the connection. */
  statementTimeoutMs: number;
  /** Server-side bound of a transaction that does nothing. */
  idleInTransactionMs: number;
  /** Called after every statement. */
  onStatement?: (seen: { name: string; ms: number; failed: boolean }) => void;
};

/** What every verb needs of a connection. */
export type Queryable = { query: <Row>(statement: Statement<Row>, values: readonly unknown[]) => Promise<Row[]> };

/** A connection of its own inside one transaction; ends with the function it was given to. */
export type Transaction = Queryable;

/** The working pool of one process. */
export type Database = Queryable & {
  /**
   * Runs `act` in one transaction as the api's read role, which sees `workspace` alone (row-level security).
   * Writes are refused by the role.
   */
  read: <Answer>(workspace: string, act: (transaction: Transaction) => Promise<Answer>) => Promise<Answer>;
  /** Runs `act` in one transaction as the engine. For decisions of an operator; a holder's verbs are single statements. */
  transact: <Answer>(act: (transaction: Transaction) => Promise<Answer>) => Promise<Answer>;
  pool: () => { size: number; inUse: number; waiting: number };
  end: () => Promise<void>;
};

/** What the client grants the server beyond its own statement time-out before it gives the connection up. */
const CLIENT_GRACE_MS = 500;

/**
 * Session settings that keep anybody from holding a row lock or a snapshot for long (rule H14), and the isolation that
 * every guarded statement is written for, whatever the database's default is.
 */
export function sessionOptions(settings: { statementTimeoutMs: number; idleInTransactionMs: number }): string {
  const values = {
    default_transaction_isolation: "read\\ committed",
    statement_timeout: settings.statementTimeoutMs,
    lock_timeout: settings.statementTimeoutMs,
    idle_in_transaction_session_timeout: settings.idleInTransactionMs,
    client_connection_check_interval: 1000,
    tcp_user_timeout: 5000,
    tcp_keepalives_idle: 5,
    tcp_keepalives_interval: 2,
    tcp_keepalives_count: 3,
    synchronous_commit: "on",
    timezone: "UTC",
  };
  return Object.entries(values).map(([name, value]) => `-c ${name}=${value}`).join(" ");
}

/**
 * The working pool of one process. A statement without an answer within its time-out rejects with
 * `StatementTimeout` and its connection is destroyed, never used again (rule H26).
 */
export function createDatabase(options: DatabaseOptions): Database {
  const clientTimeoutMs = options.statementTimeoutMs + CLIENT_GRACE_MS;
  const pooled = options.pooler === "transaction";
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.poolSize,
    ...(pooled ? {} : { options: sessionOptions(options) }),
    connectionTimeoutMillis: options.statementTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  pool.on("error", () => undefined); // a lost idle connection is replaced; the next statement reports what persists

  const send = async <Row>(client: pg.PoolClient, statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> => {
    const began = performance.now();
    let failed = true;
    try {
      const named = statement.plan === "generic" && !pooled ? { name: statement.name } : {};
      // query_timeout is read by node-postgres per query; its typings do not name it
      const config: pg.QueryConfig & { query_timeout: number } = { ...named, text: statement.text, values: [...values], query_timeout: clientTimeoutMs };
      const result: pg.QueryResult = await client.query(config);
      failed = false;
      return result.rows as Row[];
    } catch (error) {
      if (error instanceof Error && error.message === "Query read timeout") throw new StatementTimeout(statement.name, clientTimeoutMs);
      throw error;
    } finally {
      options.onStatement?.({ name: statement.name, ms: performance.now() - began, failed });
    }
  };

  const withClient = async <Answer>(act: (client: pg.PoolClient) => Promise<Answer>): Promise<Answer> => {
    const client = await pool.connect();
    const ignore = () => undefined; // a connection that breaks between statements is reported by the next one
    client.on("error", ignore);
    let broken: Error | undefined;
    try {
      return await act(client);
    } catch (error) {
      if (isAway(error)) broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.removeListener("error", ignore);
      client.release(broken);
    }
  };

  const inTransaction = async <Answer>(opening: string[], act: (transaction: Transaction) => Promise<Answer>): Promise<Answer> =>
    withClient(async (client) => {
      const plain = (text: string) => client.query({ text, query_timeout: clientTimeoutMs } as pg.QueryConfig);
      for (const text of opening) await plain(text);
      try {
        const answer = await act({ query: (statement, values) => send(client, statement, values) });
        await plain("commit");
        return answer;
      } catch (error) {
        if (!isAway(error)) await plain("rollback");
        throw error;
      }
    });

  return {
    query: (statement, values) => withClient((client) => send(client, statement, values)),
    read: (workspace, act) => inTransaction(
      ["begin read only; set local role mainstay_read", `select set_config('mainstay.workspace', ${pg.escapeLiteral(workspace)}, true)`], act),
    transact: (act) => inTransaction(["begin"], act),
    pool: () => ({ size: options.poolSize, inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
    end: () => pool.end(),
  };
}
