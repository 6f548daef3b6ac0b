import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

export const isRoot = process.getuid?.() === 0;

/**
 * Who runs the server; Postgres refuses root. {} for an ordinary user; for root the owner of an earlier home,
 * else the account `mainstay` or `postgres`, else a new `mainstay`, else `nobody`.
 */
export function chooseAccount(home) {
  if (!isRoot) return {};
  const earlier = fs.statSync(path.join(home, "cluster"), { throwIfNoEntry: false });
  if (earlier && earlier.uid !== 0) return { uid: earlier.uid, gid: earlier.gid };
  const found = lookUp("mainstay") ?? lookUp("postgres");
  if (found) return found;
  spawnSync("useradd", ["-r", "-U", "-M", "-s", "/usr/sbin/nologin", "mainstay"]);
  const made = lookUp("mainstay") ?? lookUp("nobody");
  if (!made) throw new Error("root needs an unprivileged account for Postgres: useradd -r mainstay");
  return made;
}

function lookUp(name) {
  const ask = (flag) => spawnSync("id", [flag, name], { encoding: "utf8" });
  const [uid, gid] = [ask("-u"), ask("-g")];
  if (uid.status !== 0 || gid.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** Runs as the account, from `/` (its own folder may be closed), without PG* variables of the caller; `more` is added. */
export function runAs(account, command, args, more = {}) {
  const env = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC", ...more };
  const stdio = ["ignore", "pipe", "pipe"];
  return spawnSync(command, args, { ...account, env, cwd: "/", encoding: "utf8", stdio });
}

/** An error with what the program said: its own words, and the last lines of its log. */
export function failure(what, result, log = "") {
  const said = [result.error?.message, result.stderr, log.trim().split("\n").slice(-5).join("\n")];
  return new Error(`${what} failed (exit ${result.status}): ${said.filter(Boolean).join("\n").trim()}`);
}
