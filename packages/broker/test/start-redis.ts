import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";

/** A redis-server of one test file: its own process, port and folder. */
export type PrivateRedis = {
  url: string;
  /** Runs commands beside the code under test. */
  client: Redis;
  kill(): Promise<void>;
  /** Starts the server again on the same port, with nothing in it. */
  restart(): Promise<void>;
  /** SIGSTOP and SIGCONT: the server is there and does not answer. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => { server.close(resolve); });
  return port;
}

export async function startRedis(): Promise<PrivateRedis> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "mainstay-redis-"));
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess;
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on("error", () => undefined);

  const start = async (): Promise<void> => {
    child = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder], { stdio: "ignore" });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    await client.ping();
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  };
  await start();
  return {
    url, client, kill, restart: start,
    freeze: () => { child.kill("SIGSTOP"); },
    thaw: () => { child.kill("SIGCONT"); },
    stop: async () => {
      client.disconnect();
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
