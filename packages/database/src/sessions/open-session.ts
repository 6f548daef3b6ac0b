import pg from "pg";
import { sessionOptions, type Queryable } from "../database.js";
import { StatementTimeout } from "../errors.js";
import { channels, type Channel } from "../notify.js";

/** How a session is opened; times in milliseconds. */
export type SessionOptions = {
  /** Must reach the server itself: locks and LISTEN belong to the session, which a pooler would hide. */
  url: string;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Server-side bound of one statement; the client waits a little longer, then destroys the connection. */
  statementTimeoutMs: number;
  /** Server-side bound of one wait for a lock; default `statementTimeoutMs`. */
  lockTimeoutMs?: number;
  idleInTransactionMs: number;
  /** What the client grants the server beyond that; default 500. */
  clientGraceMs?: number;
  connectTimeoutMs: number;
  onHint?: (channel: Channel) => void;
  /** Called once, however the session ends, also by `close`. */
  onEnd: (reason: string) => void;
};

/** One connection that is itself a fact: its end, its locks and its notifications mean something. */
export type Session = Queryable & {
  /** The server's process; changes with every session. */
  readonly pid: number;
  whole: () => boolean;
  listen: (wanted: readonly Channel[]) => Promise<void>;
  /** Ends it; what it was doing is given up. */
  close: () => Promise<void>;
};

const CLIENT_GRACE_MS = 500;
const prefix = "mainstay_";

/**
 * Opens one connection of its own. A statement without an answer within its time-out rejects with `StatementTimeout`
 * and ends the session (rule H26). Rejects when no connection stands within `connectTimeoutMs`.
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const clientTimeoutMs = options.statementTimeoutMs + (options.clientGraceMs ?? CLIENT_GRACE_MS);
  const lockTimeout = options.lockTimeoutMs === undefined ? "" : ` -c lock_timeout=${options.lockTimeoutMs}`;
  const client = new pg.Client({
    connectionString: options.url, application_name: options.applicationName, keepAlive: true,
    connectionTimeoutMillis: options.connectTimeoutMs, options: sessionOptions(options) + lockTimeout,
  });
  let state: "opening" | "whole" | "ended" = "opening";
  const end = (reason: string): void => {
    const before = state;
    state = "ended";
    if (before === "whole") options.onEnd(reason);
  };
  client.on("error", (error) => end(error.message));
  client.on("end", () => end("the connection was closed"));
  client.on("notification", ({ channel }) => {
    const known = channels.find((one) => prefix + one === channel);
    if (known !== undefined) options.onHint?.(known);
  });
  const close = async (): Promise<void> => {
    end("closed by its owner");
    await client.end().catch(() => undefined); // with a statement under way it destroys the socket
  };
  try {
    await client.connect();
  } catch (error) {
    void close();
    throw error;
  }
  state = "whole";

  let last: Promise<unknown> = Promise.resolve();
  /** One statement at a time: the next is sent once the one before was answered. */
  const send = <Row>(config: pg.QueryConfig, name: string): Promise<Row[]> => {
    const answer = last.then(() => sendNow<Row>(config, name));
    last = answer.catch(() => undefined);
    return answer;
  };
  const sendNow = async <Row>(config: pg.QueryConfig, name: string): Promise<Row[]> => {
    // query_timeout is read by node-postgres per query; its typings do not name it
    const bounded: pg.QueryConfig & { query_timeout: number } = { ...config, query_timeout: clientTimeoutMs };
    try {
      const result: pg.QueryResult = await client.query(bounded);
      return result.rows as Row[];
    } catch (error) {
      if (!(error instanceof Error) || error.message !== "Query read timeout") throw error;
      void close();
      throw new StatementTimeout(name, clientTimeoutMs);
    }
  };
  return {
    // node-postgres knows the process from the greeting; its typings do not name it
    pid: (client as unknown as { processID: number }).processID,
    whole: () => state === "whole",
    query: ({ name, text, plan }, values) => send({ ...(plan === "generic" ? { name } : {}), text, values: [...values] }, name),
    listen: async (wanted) => {
      if (wanted.length > 0) await send({ text: wanted.map((channel) => `listen ${prefix}${channel}`).join("; ") }, "hints.listen");
    },
    close,
  };
}
