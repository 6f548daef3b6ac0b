import { paths } from "../paths.mjs";
import { say } from "../say.mjs";

/** Brings the database to the clone's migrations with the built runner; the database itself is made when missing. */
export async function migrateDatabase(url) {
  const { migrate } = await import(`${paths.root}/packages/database/dist/index.js`);
  const applied = await migrate(url, paths.migrations);
  if (applied.length) say(`migrated  ${applied.join(", ")}`);
}
