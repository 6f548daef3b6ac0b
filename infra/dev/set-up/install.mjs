import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { paths } from "../paths.mjs";
import { Problem } from "../problem.mjs";
import { say } from "../say.mjs";
import { runTool } from "./run-tool.mjs";
import { tellEvery } from "./tell-every.mjs";
import { withLock } from "./with-lock.mjs";

const lockfile = path.join(paths.root, "package-lock.json");
const mark = path.join(paths.modules, ".mainstay-lock");

/** Brings node_modules to the lockfile with `npm ci`, unless it is there already. Works with blocked install scripts. */
export async function install() {
  if (isInstalled()) return;
  await withLock("install", async () => {
    if (isInstalled()) return;
    if (isSatisfied()) return record();
    const started = Date.now();
    const seconds = () => Math.round((Date.now() - started) / 1000);
    say("installing packages with npm ci (about half a minute; once per lockfile)");
    const npm = process.env.npm_execpath;
    const args = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
    const command = npm?.endsWith("npm-cli.js") ? [process.execPath, npm, ...args] : ["npm", ...args];
    const status = await tellEvery("still installing", () => runTool(command[0], command.slice(1), { output: "onFailure" }));
    if (status !== 0) {
      throw new Problem(`npm ci ended with status ${status}, see its words above: check the network and the registry (npm config get registry), then start again`);
    }
    record();
    say(`installed in ${seconds()} s`);
  });
}

function isInstalled() {
  return fs.existsSync(mark) && fs.readFileSync(mark, "utf8") === digest();
}

/** True when npm's own record of node_modules already names every package of the lockfile: an `npm install` by hand. */
function isSatisfied() {
  const hidden = path.join(paths.modules, ".package-lock.json");
  if (!fs.existsSync(hidden)) return false;
  const { packages: present } = JSON.parse(fs.readFileSync(hidden, "utf8"));
  const { packages: wanted } = JSON.parse(fs.readFileSync(lockfile, "utf8"));
  const inModules = Object.entries(wanted).filter(([where]) => where.startsWith("node_modules/") || where.includes("/node_modules/"));
  return inModules.every(([where, { version, integrity, optional, devOptional, peer }]) => {
    const found = present[where];
    if (!found) return Boolean(optional || devOptional || peer);
    return found.version === version && found.integrity === integrity && fs.existsSync(path.join(paths.root, where));
  });
}

function record() {
  fs.writeFileSync(mark, digest());
}

function digest() {
  return createHash("sha256").update(fs.readFileSync(lockfile)).digest("hex");
}
