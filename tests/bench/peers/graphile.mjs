import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
import pg from "pg";
import { reportStep } from "../measure/report-step.mjs";

const logger = new Logger(() => () => undefined);

/** graphile-worker with its local queue and batched completion. It has no steps. */
export const graphile = {
  prepare: ({ databaseUrl }) => runMigrations({ connectionString: databaseUrl, logger }),
  async producer({ databaseUrl }) {
    const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger, maxPoolSize: 16 });
    return (job) => utils.addJob("noop", job);
  },
  async worker({ databaseUrl }) {
    const worker = { connectionString: databaseUrl, maxPoolSize: 24, concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
    await run({ preset: { worker }, logger, noHandleSignals: true, taskList: { noop: ({ id, ms }) => reportStep(id, 1, ms) } });
  },
  /** A completed job is deleted. */
  async completed({ databaseUrl, accepted }) {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query("select count(*)::int as count from graphile_worker._private_jobs");
    await client.end();
    return accepted - rows[0].count;
  },
};
