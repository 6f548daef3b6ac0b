import { closedLoop } from "../load/closed-loop.mjs";
import { cpuMs } from "../measure/cpu-ms.mjs";
import { percentile } from "../measure/percentile.mjs";

/** W1: 32 clients, acceptance alone, no worker. */
export async function accept(start, { count }) {
  const system = await start({ workers: 0 });
  try {
    await closedLoop(system, { count: Math.min(500, count), prefix: "warm" });
    const pids = system.pids();
    const before = cpuMs(pids);
    const { perSecond, latencies } = await closedLoop(system, { count, prefix: "accept" });
    return { perSecond, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99), cpuMsPerRun: (cpuMs(pids) - before) / count };
  } finally {
    await system.stop();
  }
}
