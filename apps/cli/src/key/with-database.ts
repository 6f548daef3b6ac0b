import { createDatabase, type Database } from "@mainstay/database";
import { databaseUrlOf } from "../migrate/database-url-of.js";
import type { Console } from "../program/console.js";

/** Runs `act` with a connection of its own, which ends with it. */
export async function withDatabase<Answer>(world: Console, act: (database: Database) => Promise<Answer>): Promise<Answer> {
  const database = createDatabase({
    url: databaseUrlOf(world), applicationName: "mainstay-cli", poolSize: 1, statementTimeoutMs: 10_000, idleInTransactionMs: 10_000,
  });
  try {
    return await act(database);
  } finally {
    await database.end();
  }
}
