import { paths } from "../paths.mjs";
import { findPostgres } from "../services/find-postgres.mjs";
import { runTool } from "../set-up/run-tool.mjs";
import { setUp } from "../set-up/set-up.mjs";

/** `npm run test:sim [-- --seeds 10000 | --seed 4711 | --mutants]`: the seeded simulation. Status 1 when a law is broken. */
export async function run(args) {
  await setUp();
  const postgres = await findPostgres();
  return runTool(process.execPath, [`${paths.root}/tests/sim/run.mjs`, ...args], { output: "stdout", env: { DATABASE_URL: postgres.url } });
}
