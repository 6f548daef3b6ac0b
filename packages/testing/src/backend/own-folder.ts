import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { stopCluster } from "./infra.js";
import { repository } from "./repository.js";

const folder = path.join(repository, ".data/tests");
let swept: Promise<void> | undefined;

/**
 * A new folder for a server of this process, named `<kind>-<pid>-<random>`. First, once per process, it ends
 * the servers of test processes that were killed and removes their folders.
 */
export async function ownFolder(kind: "postgres" | "redis"): Promise<string> {
  mkdirSync(folder, { recursive: true });
  swept ??= sweep();
  await swept;
  const own = path.join(folder, `${kind}-${process.pid}-${randomBytes(3).toString("hex")}`);
  mkdirSync(own);
  return own;
}

async function sweep(): Promise<void> {
  for (const name of readdirSync(folder)) {
    const [kind, pid] = name.split("-");
    if (!pid || isAlive(Number(pid))) continue;
    const left = path.join(folder, name);
    if (kind === "postgres") await stopCluster({ home: left, mode: "immediate" }).catch(() => undefined);
    if (kind === "redis") endRedisOf(left);
    rmSync(left, { recursive: true, force: true });
  }
}

/** Ends the server that wrote the pid file, if the process that bears the pid now is still a Redis or Valkey. */
function endRedisOf(left: string): void {
  const file = path.join(left, "redis.pid");
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8"));
  const commandLine = `/proc/${pid}/cmdline`;
  if (existsSync(commandLine) && /(redis|valkey)-server/.test(readFileSync(commandLine, "utf8"))) process.kill(pid, "SIGKILL");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
