import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { say } from "../say.mjs";

/** True for root on Debian or Ubuntu: the machine whose packages we may add to. */
export function canInstallRedis() {
  if (process.getuid?.() !== 0 || !fs.existsSync("/etc/os-release")) return false;
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(fs.readFileSync("/etc/os-release", "utf8"));
}

/** Installs Debian's redis-server, announced; false when apt could not. The service it brings is not started. */
export function installRedis() {
  say("no Redis found: installing Debian's with apt-get install redis-server (about half a minute, once)");
  const options = { stdio: ["ignore", 2, 2], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" } };
  const apt = (...args) => spawnSync("apt-get", ["-qq", "-o", "Dpkg::Use-Pty=0", ...args], options).status === 0;
  const install = () => apt("install", "-y", "--no-install-recommends", "redis-server");
  return install() || (apt("update") && install());
}
