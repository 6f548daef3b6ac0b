import { findServices } from "../services/findServices.mjs";
import { migrateDatabase } from "../services/migrateDatabase.mjs";
import { setUp } from "../setUp/setUp.mjs";

/**
 * `npm start [-- --exit] [-- --json]`: from a bare clone to a fleet that shows the main job. Answers the main
 * job's status. Stdout belongs to the main job; progress goes to stderr.
 */
export async function run(argv) {
  await setUp();
  const { postgres, redis } = await findServices();
  await migrateDatabase(postgres.url);
  const { runMainJob } = await import("../main-job/run.mjs");
  return runMainJob({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    broker: redis.url ? "redis" : "none",
    postgresHow: postgres.how,
    brokerHow: redis.how,
    argv,
  });
}
