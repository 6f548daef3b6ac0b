import { Queue, Worker } from "bullmq";
import { reportStep } from "../measure/report-step.mjs";

const connectionOf = ({ redisUrl }) => ({ url: redisUrl, maxRetriesPerRequest: null });

/** BullMQ itself, 50 jobs at once per process; a step is recorded by `updateData`. Not durable on the reply, no fence. */
export const bullmq = {
  async prepare() {},
  async producer(place) {
    const queue = new Queue("bench", { connection: connectionOf(place) });
    await queue.waitUntilReady();
    return (job) => queue.add(job.kind, job, { jobId: job.id });
  },
  async worker(place) {
    const worker = new Worker("bench", async (job) => {
      const { id, kind, ms, step = 0 } = job.data;
      const steps = kind === "five" ? 5 : 1;
      for (let next = step + 1; next <= steps; next++) {
        await reportStep(id, next, ms);
        if (next < steps) await job.updateData({ ...job.data, step: next });
      }
    }, { connection: connectionOf(place), concurrency: 50 });
    worker.on("error", () => undefined);
    await worker.waitUntilReady();
  },
  async completed(place) {
    const queue = new Queue("bench", { connection: connectionOf(place) });
    const { completed } = await queue.getJobCounts("completed");
    await queue.close();
    return completed;
  },
};
