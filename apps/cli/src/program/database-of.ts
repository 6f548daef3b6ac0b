import { createDatabase, type Database } from "@mainstay/database";
import type { Console } from "./console.js";
import { exitStatus } from "./exit-status.js";
import { Trouble } from "./trouble.js";

/** The address of the database of `migrate`, `key` and `dev`, which speak to it directly. */
export function databaseUrlOf(world: Console): string {
  const { databaseDirectUrl, databaseUrl } = world.config();
  const url = databaseDirectUrl ?? databaseUrl;
  if (url !== undefined) return url;
  throw new Trouble("expected DATABASE_URL, it is not set", exitStatus.usage, "set DATABASE_URL=postgres://…, or use: npm run -s mainstay -- <command>");
}

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
