import { spawnSync } from "node:child_process";

/**
 * Installs packages of Debian and says nothing: the caller announces it. The lists are fetched once when a package is not
 * in them. A service that a package brings is not started. Needs root; answers false when apt could not.
 */
export function installPackages(names) {
  const options = { stdio: ["ignore", 2, 2], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" } };
  const quiet = ["-qq", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=120"];
  const apt = (...args) => spawnSync("apt-get", [...quiet, ...args], options).status === 0;
  const install = () => apt("install", "-y", "--no-install-recommends", ...names);
  return install() || (apt("update") && install());
}
