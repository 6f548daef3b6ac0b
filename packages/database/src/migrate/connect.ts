import pg from "pg";

/** A session of its own on `url`'s database, which is made first when it is missing. The caller ends it. */
export async function connect(url: string): Promise<pg.Client> {
  try {
    return await open(url);
  } catch (error) {
    if (codeOf(error) !== "3D000") throw error; // no such database
  }
  await createDatabase(url);
  return open(url);
}

async function open(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, application_name: "mainstay-migrate" });
  client.on("error", () => undefined); // a lost connection is reported by the next query
  await client.connect();
  return client;
}

async function createDatabase(url: string): Promise<void> {
  const target = new URL(url);
  const name = decodeURIComponent(target.pathname.slice(1));
  target.pathname = "/postgres";
  const admin = await open(String(target));
  try {
    await admin.query(`create database ${admin.escapeIdentifier(name)}`);
  } catch (error) {
    if (!["42P04", "23505"].includes(codeOf(error) ?? "")) throw error; // another runner made it first
  } finally {
    await admin.end();
  }
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return undefined;
}
