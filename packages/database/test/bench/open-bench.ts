import { createTestDatabase } from "@mainstay/testing";
import pg from "pg";
import { createDatabase, type Database, type DatabaseOptions } from "../../src/index.js";

/** A migrated database of one test file, with the verbs' own pool and a pool that reads as its owner. */
export type Bench = {
  readonly url: string;
  readonly db: Database;
  /** Plain SQL as the database's owner, for assertions and for rows that no verb makes. */
  readonly sql: <Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** A further session of its own; ended with the bench. */
  readonly session: () => Promise<pg.Client>;
  /** A further working pool, as a second process would have. */
  readonly another: (options?: Partial<DatabaseOptions>) => Database;
  readonly close: () => Promise<void>;
};

/** Opens a bench; `close` drops the database. Statement time-out 10 s, so that a test's pause is no time-out. */
export async function openBench(): Promise<Bench> {
  const database = await createTestDatabase();
  const { url } = database;
  const ends: (() => Promise<void>)[] = [];
  const another = (options: Partial<DatabaseOptions> = {}): Database => {
    const db = createDatabase({ url, applicationName: "bench", poolSize: 5, statementTimeoutMs: 10_000, idleInTransactionMs: 10_000, ...options });
    ends.push(() => db.end());
    return db;
  };
  const owner = new pg.Pool({ connectionString: url, max: 3 });
  owner.on("error", () => undefined); // the next query reports what persists
  ends.push(() => owner.end());
  return {
    url, another,
    db: another(),
    sql: async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) => (await owner.query<Row>(text, [...values])).rows,
    session: async () => {
      const client = new pg.Client({ connectionString: url });
      client.on("error", () => undefined); // a lost session is reported by its next query
      await client.connect();
      ends.push(() => client.end());
      return client;
    },
    close: async () => {
      await Promise.all(ends.map((end) => end().catch(() => undefined)));
      await database.drop();
    },
  };
}
