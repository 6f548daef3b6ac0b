import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { findBackend } from "../backend/find-backend.js";

/** A numbered Redis database that one test file has to itself. Its server is shared: never flush all of it. */
export type TestRedis = {
  readonly url: string;
  /** Empties this database only. */
  flush(): Promise<void>;
  /** Empties it, gives the number back and closes the session. */
  stop(): Promise<void>;
};

const LEASE_MS = 60_000;

/**
 * Takes a free numbered database, empty. A test run that is killed gives its number back after a minute.
 * Throws when the machine has no Redis, and when all numbers are taken.
 */
export async function createTestRedis(): Promise<TestRedis> {
  const { redisUrl } = await findBackend();
  if (!redisUrl) {
    throw new Error("this test needs Redis and none was found: set REDIS_URL or install redis-server (Debian: apt-get install redis-server)");
  }
  const keeper = new Redis(atNumber(redisUrl, 0), { maxRetriesPerRequest: 2 });
  keeper.on("error", () => undefined); // the command that meets it reports it
  const token = randomUUID();
  const number = await takeNumber(keeper, token).catch((error: unknown) => {
    keeper.disconnect();
    throw error;
  });
  const renewal = setInterval(() => void keeper.pexpire(leaseOf(number), LEASE_MS).catch(() => 0), LEASE_MS / 4);
  renewal.unref();
  const url = atNumber(redisUrl, number);
  await emptyAt(url);
  return {
    url,
    flush: () => emptyAt(url),
    async stop() {
      clearInterval(renewal);
      await emptyAt(url);
      if ((await keeper.get(leaseOf(number))) === token) await keeper.del(leaseOf(number));
      await keeper.quit();
    },
  };
}

function leaseOf(number: number): string {
  return `mainstay:testing:database:${number}`;
}

function atNumber(url: string, number: number): string {
  const target = new URL(url);
  target.pathname = `/${number}`;
  return String(target);
}

async function takeNumber(keeper: Redis, token: string): Promise<number> {
  const [, count = "16"] = (await keeper.config("GET", "databases")) as string[];
  for (let number = 1; number < Number(count); number++) {
    if ((await keeper.set(leaseOf(number), token, "PX", LEASE_MS, "NX")) === "OK") return number;
  }
  throw new Error(`all ${count} Redis databases are taken by tests: wait a minute, or use a server with more (--databases 256)`);
}

async function emptyAt(url: string): Promise<void> {
  const session = new Redis(url, { maxRetriesPerRequest: 2 });
  session.on("error", () => undefined);
  try {
    await session.flushdb();
  } finally {
    session.disconnect();
  }
}
