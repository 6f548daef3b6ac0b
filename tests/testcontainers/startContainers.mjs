import { randomBytes } from "node:crypto";
import { images } from "./makeImages.mjs";

/**
 * Starts one Postgres and one Redis container and answers `{ databaseUrl, redisUrl, stop }`. Fails at once
 * without an engine, and when makeImages has not been run on it.
 */
export async function startContainers() {
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= "true"; // its reaper's image would come from a registry
  const { GenericContainer, Wait } = await import("testcontainers");
  const password = randomBytes(12).toString("hex");
  const postgres = await new GenericContainer(images.postgres)
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withExposedPorts(5432)
    .withSharedMemorySize(256 * 1024 * 1024)
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/))
    .start();
  const redis = await new GenericContainer(images.redis)
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  const at = (container, port) => `${container.getHost()}:${container.getMappedPort(port)}`;
  const databaseUrl = `postgres://postgres:${password}@${at(postgres, 5432)}/postgres`;
  const redisUrl = `redis://${at(redis, 6379)}`;
  console.error(`postgres  container of ${images.postgres} at ${at(postgres, 5432)}`);
  console.error(`redis     container of ${images.redis} at ${at(redis, 6379)}`);
  return { databaseUrl, redisUrl, stop: async () => void (await Promise.all([postgres.stop(), redis.stop()])) };
}
