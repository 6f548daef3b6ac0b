import { spawn } from "node:child_process";
import { once } from "node:events";
import { paths } from "../paths.mjs";
import { findServices } from "../services/find-services.mjs";
import { findPostgres } from "../services/find-postgres.mjs";
import { migrateDatabase } from "../services/migrate-database.mjs";
import { setUp } from "../set-up/set-up.mjs";

const needDatabase = ["key", "migrate", "restore"];

/**
 * `npm run -s mainstay -- <command>`: the operator's command line. Commands that speak to the database get
 * this clone's own one unless DATABASE_URL is set. Stdin, stdout and exit status are the command's own.
 */
export async function run(args) {
  await setUp();
  const env = { ...process.env, ...(await services(args[0])) };
  const child = spawn(process.execPath, [`${paths.root}/apps/cli/dist/main.js`, ...args], { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  const [status] = await once(child, "exit");
  return status ?? 1;
}

async function services(command) {
  if (command === "dev") {
    const { postgres, redis } = await findServices();
    await migrateDatabase(postgres.url);
    return { DATABASE_URL: postgres.url, ...(redis.url ? { REDIS_URL: redis.url } : { MAINSTAY_BROKER: "none" }) };
  }
  if (!needDatabase.includes(command) || process.env.DATABASE_URL) return {};
  const { url } = await findPostgres();
  if (command !== "migrate") await migrateDatabase(url);
  return { DATABASE_URL: url };
}
