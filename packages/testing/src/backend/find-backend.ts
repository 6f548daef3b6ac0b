import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { repository } from "./repository.js";

/** The shared services of a test run. Tests take a database and a numbered Redis of their own on them. */
export type Backend = {
  readonly databaseUrl: string;
  /** Undefined when the machine has no Redis: a test that needs one then fails with the way to get it. */
  readonly redisUrl: string | undefined;
};

let found: Promise<Backend> | undefined;

/**
 * Finds the services once per process: `DATABASE_URL` and `REDIS_URL`, else those of the clone, started when
 * they do not run. `MAINSTAY_TEST_BACKEND=embedded` ignores the two URLs; with `testcontainers` the lane
 * has set them to its containers' and their absence is an error.
 */
export function findBackend(): Promise<Backend> {
  found ??= find();
  return found;
}

async function find(): Promise<Backend> {
  const { DATABASE_URL, REDIS_URL, MAINSTAY_TEST_BACKEND: backend = "auto" } = process.env;
  if (!["auto", "embedded", "testcontainers"].includes(backend)) {
    throw new Error(`MAINSTAY_TEST_BACKEND must be auto, embedded or testcontainers, it is ${backend}`);
  }
  if (backend !== "embedded" && DATABASE_URL && REDIS_URL) return { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL };
  if (backend === "testcontainers") {
    throw new Error("MAINSTAY_TEST_BACKEND=testcontainers, but no containers run: use npm run test:testcontainers");
  }
  const environment = { ...process.env, ...(backend === "embedded" ? { DATABASE_URL: "", REDIS_URL: "" } : {}) };
  const { stdout } = await promisify(execFile)(process.execPath, [`${repository}/infra/dev/run.mjs`, "services"], {
    env: environment,
  });
  const services = JSON.parse(stdout) as { postgres: { url: string }; redis: { url?: string } };
  return { databaseUrl: services.postgres.url, redisUrl: services.redis.url };
}
