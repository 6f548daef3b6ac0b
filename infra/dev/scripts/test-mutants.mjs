import fs from "node:fs";
import { paths } from "../paths.mjs";
import { Problem } from "../problem.mjs";
import { findServices } from "../services/find-services.mjs";
import { runTool } from "../set-up/run-tool.mjs";
import { setUp } from "../set-up/set-up.mjs";

/** `npm run test:mutants [-- …]`: removes one guard at a time and names the test that notices. Status 1 on a survivor. */
export async function run(args) {
  const runner = `${paths.root}/tests/mutants/run.mjs`;
  if (!fs.existsSync(runner)) throw new Problem("tests/mutants/run.mjs is missing: this clone has no mutants to run");
  await setUp();
  const { postgres, redis } = await findServices();
  const env = { DATABASE_URL: postgres.url, ...(redis.url ? { REDIS_URL: redis.url } : {}) };
  return runTool(process.execPath, [runner, ...args], { output: "stdout", env });
}
