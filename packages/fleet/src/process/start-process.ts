import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Exit, StartedProcess } from "./fleet-process.js";
import { keepLog, type Log } from "./keep-log.js";
import type { Role } from "./role.js";

/** What a process is started with. */
export type ProcessOptions = Readonly<{
  role: Role;
  /** The JavaScript file to run, absolute. */
  entry: string;
  /** Its whole environment; nothing of the parent's is added. */
  env: Readonly<Record<string, string | undefined>>;
  /** Default: the role. */
  name?: string;
  /** Everything it writes is appended here; the folder is made. Default: memory only. */
  logFile?: string;
  /** Lines kept in memory; default 5,000. */
  keptLines?: number;
  /** Options of Node itself, such as `--enable-source-maps`. */
  nodeOptions?: readonly string[];
}>;

const guard = fileURLToPath(new URL("./end-with-parent.js", import.meta.url));

/** The living children; killed when this process exits by itself. Every other end of it is told by the pipe. */
const living = new Set<StartedProcess>();
let watchesExit = false;

/**
 * Starts a child and answers at once; `awaitReady` waits for it.
 *
 * The child ends with this process, also when this one is killed.
 */
export function startProcess(options: ProcessOptions): StartedProcess & { readonly log: Log } {
  const { role, entry, env, name = role, logFile, keptLines = 5_000, nodeOptions = [] } = options;
  const child = spawn(process.execPath, [...nodeOptions, "--import", guard, entry], {
    env: { ...env }, stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const log = keepLog({ kept: keptLines, file: logFile });
  for (const stream of [child.stdout, child.stderr]) if (stream !== null) log.take(stream);
  child.stdio[3]?.on("error", () => undefined); // the pipe breaks when the child is killed

  let ended: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      ended = { code, signal };
      living.delete(started);
      resolve(ended);
    });
    child.once("error", (error) => { // it never began
      if (child.pid !== undefined) return;
      ended = { code: 127, signal: null };
      log.fail(error);
      resolve(ended);
    });
  });
  const asked: NodeJS.Signals[] = [];
  const send = (signal: NodeJS.Signals): boolean => {
    if (ended !== undefined || !child.kill(signal)) return false;
    asked.push(signal);
    return true;
  };
  const started = Object.freeze({
    role, name, pid: child.pid ?? -1, exited, log,
    exit: () => ended,
    asked: () => asked,
    send,
    kill: (signal: NodeJS.Signals) => {
      send(signal);
      return exited;
    },
    freeze: () => void send("SIGSTOP"),
    thaw: () => void send("SIGCONT"),
    lines: log.lines,
    onLine: log.onLine,
  });
  if (child.pid !== undefined) living.add(started);
  endWithUs();
  return started;
}

function endWithUs(): void {
  if (watchesExit) return;
  watchesExit = true;
  process.once("exit", () => {
    for (const child of living) child.send("SIGKILL");
  });
}
