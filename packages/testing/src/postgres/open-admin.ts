import pg from "pg";
import { codeOf } from "./code-of.js";

/** A session on the server of `databaseUrl`: in its own database, or in `postgres` when that is not made yet. */
export async function openAdmin(databaseUrl: string): Promise<pg.Client> {
  try {
    return await open(databaseUrl);
  } catch (error) {
    if (codeOf(error) !== "3D000") throw error;
  }
  const fallback = new URL(databaseUrl);
  fallback.pathname = "/postgres";
  return open(String(fallback));
}

async function open(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, application_name: "mainstay-testing" });
  client.on("error", () => undefined); // a lost session is reported by its next query
  await client.connect();
  return client;
}
