import { Problem } from "../problem.mjs";
import { findServices } from "../services/find-services.mjs";
import { migrateDatabase } from "../services/migrate-database.mjs";
import { setUp } from "../set-up/set-up.mjs";

const flags = ["--exit", "--json"];

/**
 * `npm start [-- --exit] [-- --json]`: from a bare clone to a fleet that shows the main job. Answers the main
 * job's status. Stdout belongs to the main job; progress goes to stderr.
 */
export async function run(argv) {
  const unknown = argv.find((word) => !flags.includes(word));
  if (unknown !== undefined) throw new Problem(`npm start takes ${flags.join(" and ")}, seen ${unknown}`);
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
