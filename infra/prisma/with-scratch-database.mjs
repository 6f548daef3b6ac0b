import { randomBytes } from "node:crypto";
import pg from "pg";
import { paths } from "../dev/paths.mjs";
import { findPostgres } from "../dev/services/find-postgres.mjs";

/** Gives `work` the URL of a database that our runner migrated, and drops it afterwards. */
export async function withScratchDatabase(work) {
  const { migrate } = await import(`${paths.root}/packages/database/dist/index.js`);
  const { url } = await findPostgres();
  const name = `mainstay_schema_${randomBytes(5).toString("hex")}`;
  const scratch = new URL(url);
  scratch.pathname = `/${name}`;
  try {
    await migrate(String(scratch), paths.migrations);
    return await work(String(scratch), migrate);
  } finally {
    scratch.pathname = "/postgres";
    const admin = new pg.Client({ connectionString: String(scratch) });
    await admin.connect();
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
  }
}
