import fs from "node:fs";
import path from "node:path";
import { chooseAccount, failure, runAs } from "./account.mjs";
import { findBinaries } from "./find-binaries.mjs";
import { reachableHome } from "./home.mjs";

/**
 * Stops the cluster of `home`. `fast` ends its sessions and loses nothing; `immediate` is a crash, which the
 * next start recovers from. Answers false when it was not running.
 */
export async function stopCluster({ home, mode = "fast" }) {
  const account = chooseAccount(home);
  const cluster = path.join(reachableHome(home, account), "cluster");
  if (!fs.existsSync(path.join(cluster, "postmaster.pid"))) return false;
  const found = await findBinaries(account);
  if (!found) throw new Error(`${cluster} runs, but no pg_ctl was found to stop it: run npm ci`);
  if (runAs(account, path.join(found.bin, "pg_ctl"), ["-D", cluster, "status"]).status !== 0) return false;
  const stopped = runAs(account, path.join(found.bin, "pg_ctl"), ["-D", cluster, "-m", mode, "-w", "stop"]);
  if (stopped.status !== 0) throw failure("pg_ctl stop", stopped);
  return true;
}
