import { paths } from "../paths.mjs";
import { runTool } from "../set-up/run-tool.mjs";
import { setUp } from "../set-up/set-up.mjs";

/**
 * `npm run test:soak [-- --minutes 30 --rate 100 --kill-every 5 --seed N | --quick]`: a fleet under load on services of its own,
 * with kills, flushes and restarts all the time. Ends `N passed, N failed` over its claims.
 */
export async function run(args) {
  await setUp();
  return runTool(process.execPath, [`${paths.root}/tests/soak/run.mjs`, ...args], { output: "stdout" });
}
