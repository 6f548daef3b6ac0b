import { findServices } from "../services/find-services.mjs";

/**
 * Vitest's global set-up: finds the services once, before any test process starts, and names them in the
 * environment. `MAINSTAY_TEST_BACKEND=embedded` ignores the URLs of the caller; `testcontainers` starts
 * containers, which end with the run.
 */
export default async function provideServices() {
  const backend = process.env.MAINSTAY_TEST_BACKEND || "auto";
  if (backend === "testcontainers") {
    const { startContainers } = await import("../../../tests/testcontainers/start-containers.mjs");
    const { databaseUrl, redisUrl, stop } = await startContainers();
    Object.assign(process.env, { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl });
    return stop;
  }
  const own = backend === "embedded" ? { DATABASE_URL: "", REDIS_URL: "" } : {};
  // the broker setting is for a fleet; tests that want a brokerless one say so themselves
  const { postgres, redis } = await findServices({ environment: { ...process.env, MAINSTAY_BROKER: "", ...own } });
  process.env.DATABASE_URL = postgres.url;
  if (redis.url) process.env.REDIS_URL = redis.url;
  return undefined;
}
