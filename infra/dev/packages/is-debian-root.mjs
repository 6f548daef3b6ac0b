import fs from "node:fs";

/** True for root on Debian or Ubuntu: the machine whose packages we may add to. */
export function isDebianRoot() {
  if (process.getuid?.() !== 0 || !fs.existsSync("/etc/os-release")) return false;
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(fs.readFileSync("/etc/os-release", "utf8"));
}
