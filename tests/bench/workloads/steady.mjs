import { openLoop } from "../load/open-loop.mjs";
import { cpuMs } from "../measure/cpu-ms.mjs";
import { percentile } from "../measure/percentile.mjs";
import { awaitCompleted } from "./await-completed.mjs";

/** W2 at a steady rate: latency from when a request was due to the end of the run's code; CPU in percent of one core. */
export async function steady(system, { sink, rate, seconds, known }) {
  const pids = system.pids();
  const before = cpuMs(pids);
  const { sentAt, tookMs } = await openLoop(system, { rate, seconds, prefix: `steady${rate}` });
  const cpuPercent = ((cpuMs(pids) - before) / tookMs) * 100;
  await awaitCompleted(system, { sink, count: rate * seconds, known });
  const latencies = [...sentAt].map(([id, sent]) => sink.endedAt(id) - sent);
  return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99), cpuPercent };
}
