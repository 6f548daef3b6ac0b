import { paths } from "../paths.mjs";
import { findPostgres } from "../services/find-postgres.mjs";
import { runTool } from "../set-up/run-tool.mjs";
import { setUp } from "../set-up/set-up.mjs";

/**
 * `npm run test:fuzz [-- --requests 5000 --seed N | --only N | --quick]`: bad input for every operation of the served
 * OpenAPI document. Ends `N passed, N failed` over its claims.
 */
export async function run(args) {
  await setUp();
  const postgres = await findPostgres();
  return runTool(process.execPath, [`${paths.root}/tests/fuzz/run.mjs`, ...args], { output: "stdout", env: { DATABASE_URL: postgres.url } });
}
