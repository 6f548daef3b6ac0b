import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { Redis } from "ioredis";
import { findRedisProgram } from "../backend/infra.js";
import { ownFolder } from "../backend/own-folder.js";
import { until } from "../until.js";

/** A redis-server process that one test may kill, pause, flush and restart. */
export type OwnRedis = {
  readonly url: string;
  readonly port: number;
  /** Removes every key of every database. */
  flush(): Promise<void>;
  /** SIGKILL. What was written is lost: it keeps nothing on disk. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Starts it again, empty, on the same port after `kill()`. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
};

/** Starts a Redis on a free port of 127.0.0.1 that keeps nothing on disk; it ends with the test process. */
export async function startOwnRedis(): Promise<OwnRedis> {
  const program = await findRedisProgram();
  const home = await ownFolder("redis");
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const pidFile = path.join(home, "redis.pid");
    const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", home, "--pidfile", pidFile, "--save", "", "--appendonly", "no"];
    server = spawn(program, settings, { stdio: "ignore" });
    await until(`redis-server on port ${port}`, () => ask(url, (session) => session.ping()), 10_000);
  };
  const kill = async (): Promise<void> => {
    const ending = server;
    server = undefined;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, "exit");
    ending.kill("SIGKILL");
    await ended;
  };
  const endWithUs = (): void => void server?.kill("SIGKILL");
  process.once("exit", endWithUs);

  await start();
  return {
    url,
    port,
    start,
    kill,
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (!address || typeof address === "string") throw new Error("the system gave no port");
  return address.port;
}
