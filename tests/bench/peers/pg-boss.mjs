import pg from "pg";
import { PgBoss } from "pg-boss";
import { reportStep } from "../measure/report-step.mjs";

const variants = {
  poll: { boss: {}, queue: {}, work: { batchSize: 500, localConcurrency: 1, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true } },
  tuned: { boss: { useListenNotify: true }, queue: { notify: true }, work: { batchSize: 100, localConcurrency: 4, burstWhenBatchFull: true } },
};

async function start({ databaseUrl, variant }) {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 16, ...variants[variant].boss });
  boss.on("error", (error) => console.error("pg-boss", error.message));
  await boss.start();
  return boss;
}

/** pg-boss, tuned two ways: `poll` (large batches, half a second apart) and `tuned` (LISTEN/NOTIFY). It has no steps. */
export const pgBoss = {
  async prepare(place) {
    const boss = await start(place);
    await boss.createQueue("bench", variants[place.variant].queue);
    await boss.stop({ graceful: false });
  },
  async producer(place) {
    const boss = await start(place);
    return (job) => boss.send("bench", job);
  },
  async worker(place) {
    const boss = await start(place);
    await boss.work("bench", variants[place.variant].work, async (jobs) => {
      await Promise.all(jobs.map(({ data }) => reportStep(data.id, 1, data.ms)));
    });
  },
  async completed({ databaseUrl }) {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query("select count(*)::int as count from pgboss.job where name = 'bench' and state = 'completed'");
    await client.end();
    return rows[0].count;
  },
};
