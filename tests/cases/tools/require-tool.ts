import { fileURLToPath } from "node:url";
import { libfaketime } from "./libfaketime.js";
import { nginx } from "./nginx.js";
import { pgbouncer } from "./pgbouncer.js";

const bootstrap = fileURLToPath(new URL("../../../infra/dev", import.meta.url));
const places = { libfaketime, nginx, pgbouncer };

/** The tools a case may ask for. */
export type ToolName = keyof typeof places;

/** Where a tool lies, or why it is not there and how to get it: the reason of a case that is not run. */
export type Tool = Readonly<{ name: ToolName; path: string } | { name: ToolName; notRun: string }>;

/**
 * Finds a tool, or gets it with apt-get, announced, as root on Debian. Any number of processes may ask at once. Whoever
 * asks decides what a missing one means; it is never silently done without.
 */
export async function requireTool(name: ToolName): Promise<Tool> {
  const { packages, find } = places[name];
  const found = find() ?? (await install(name, packages, find));
  return found === undefined ? { name, notRun: `${name}, get it by apt-get install ${packages.join(" ")}` } : { name, path: found };
}

async function install(name: ToolName, packages: readonly string[], find: () => string | undefined): Promise<string | undefined> {
  const { isDebianRoot } = (await load("packages/is-debian-root.mjs")) as { isDebianRoot: () => boolean };
  if (!isDebianRoot()) return undefined;
  const { withLock } = (await load("set-up/with-lock.mjs")) as { withLock: <T>(name: string, work: () => Promise<T>) => Promise<T> };
  const { installPackages } = (await load("packages/install-packages.mjs")) as { installPackages: (names: readonly string[]) => boolean };
  return withLock("packages", async () => {
    if (find() === undefined) {
      process.stderr.write(`no ${name} found: installing Debian's with apt-get install ${packages.join(" ")} (once)\n`);
      installPackages(packages);
    }
    return Promise.resolve(find());
  });
}

/** The bootstrap is plain Node; this is where its words get types. */
async function load(file: string): Promise<unknown> {
  return import(/* @vite-ignore */ `${bootstrap}/${file}`);
}
