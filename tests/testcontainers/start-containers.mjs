import { randomBytes } from "node:crypto";
import { installTool } from "./install-tool.mjs";
import { images, makeImages } from "./make-images.mjs";
import { startEngine } from "./start-engine.mjs";

/**
 * Starts one Postgres and one Redis container and answers `{ databaseUrl, redisUrl, stop }`. Installs the lane's
 * own tool, finds or starts an engine and makes the images first; `stop` ends what was started.
 */
export async function startContainers() {
  await installTool();
  const engine = await startEngine();
  try {
    await makeImages(engine.environment);
    Object.assign(process.env, engine.environment);
    const { containers, ...urls } = await start();
    const stop = async () => {
      await Promise.all(containers.map((container) => container.stop()));
      await engine.stop();
    };
    return { ...urls, stop };
  } catch (error) {
    await engine.stop();
    throw error;
  }
}

async function start() {
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
  return { databaseUrl, redisUrl, containers: [postgres, redis] };
}
