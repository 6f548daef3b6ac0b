import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Redis } from "ioredis";
import { findRedisProgram } from "../backend/infra.js";
import { ownFolder } from "../backend/own-folder.js";
import { until } from "../until.js";
import { freePort } from "./free-port.js";

/** A redis-server process that one test may kill, pause, flush and restart. */
export type OwnRedis = {
  readonly url: string;
  readonly port: number;
  /** Removes every key of every database. */
  flush(): Promise<void>;
  /** SIGKILL. What was written is lost: it keeps nothing on disk. */
  kill(): Promise<void>;
  /** SIGTERM, and waits for the end: clients are told. */
  halt(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Opens a session for `work` alone and closes it. Throws when the server cannot be reached within 2 s. */
  ask<T>(work: (session: Redis) => Promise<T>): Promise<T>;
  /** Starts it again, empty, on the same port after `kill()` or `halt()`. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
};

/** What a server may be given besides. */
export type OwnRedisOptions = Readonly<{
  /** Further settings as the command line takes them: `["--maxmemory", "10mb"]`. */
  settings?: readonly string[];
  /** The lines of a configuration file of its own, which the server may write to (Sentinels need one). */
  file?: readonly string[];
}>;

/** Starts a Redis on a free port of 127.0.0.1 that keeps nothing on disk; it ends with the test process. */
export async function startOwnRedis({ settings: more = [], file }: OwnRedisOptions = {}): Promise<OwnRedis> {
  const program = await findRedisProgram();
  const home = await ownFolder("redis");
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const pidFile = path.join(home, "redis.pid");
    const settings = [...(file === undefined ? [] : [path.join(home, "redis.conf")]), "--port", `${port}`, "--bind", "127.0.0.1", "--dir", home, "--pidfile", pidFile, "--save", "", "--appendonly", "no", ...more];
    if (file !== undefined) writeFileSync(path.join(home, "redis.conf"), `${file.join("\n")}\n`);
    server = spawn(program, settings, { stdio: "ignore" });
    await until(`redis-server on port ${port}`, () => ask(url, (session) => session.ping()), 10_000);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = server;
    server = undefined;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, "exit");
    ending.kill(signal);
    await ended;
  };
  const kill = (): Promise<void> => end("SIGKILL");
  const endWithUs = (): void => void server?.kill("SIGKILL");
  process.once("exit", endWithUs);

  await start();
  return {
    url,
    port,
    start,
    kill,
    halt: () => end("SIGTERM"),
    ask: (work) => ask(url, work),
    flush: () => ask(url, async (session) => { await session.flushall(); }),
    pause: () => void server?.kill("SIGSTOP"),
    resume: () => void server?.kill("SIGCONT"),
    async stop() {
      process.off("exit", endWithUs);
      await kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function ask<T>(url: string, work: (session: Redis) => Promise<T>): Promise<T> {
  const session = new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 2_000, lazyConnect: true, retryStrategy: () => null });
  session.on("error", () => undefined); // the command that meets it reports it
  try {
    await session.connect();
    return await work(session);
  } finally {
    session.disconnect();
  }
}
