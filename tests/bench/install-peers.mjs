import fs from "node:fs";
import path from "node:path";
import { Problem } from "../../infra/dev/problem.mjs";
import { say } from "../../infra/dev/say.mjs";
import { runTool } from "../../infra/dev/set-up/run-tool.mjs";

/** Installs pg-boss and graphile-worker into this lane's own folder, once. They name a newer Node than ours and run on it. */
export async function installPeers() {
  const folder = import.meta.dirname;
  if (["pg-boss", "graphile-worker"].every((name) => fs.existsSync(path.join(folder, "node_modules", name, "package.json")))) return;
  say("installing the lane's own peers, pg-boss and graphile-worker");
  const options = ["--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", "--engine-strict=false"];
  const status = await runTool("npm", ["ci", ...options], { output: "onFailure" });
  if (status !== 0) throw new Problem("not run: npm ci in tests/bench failed, see its words above");
}
