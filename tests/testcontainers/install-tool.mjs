import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Problem } from "../../infra/dev/problem.mjs";
import { say } from "../../infra/dev/say.mjs";
import { runTool } from "../../infra/dev/set-up/run-tool.mjs";

const folder = path.dirname(fileURLToPath(import.meta.url));

/** Installs testcontainers into this lane's own folder, once. */
export async function installTool() {
  if (fs.existsSync(path.join(folder, "node_modules/testcontainers/package.json"))) return;
  say("installing the lane's own tool, testcontainers");
  const options = ["--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"];
  const status = await runTool("npm", ["ci", ...options], { output: "onFailure" });
  if (status !== 0) throw new Problem("not run: testcontainers, npm ci in tests/testcontainers failed, see its words above");
}
