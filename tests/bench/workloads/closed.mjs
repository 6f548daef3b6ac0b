import { closedLoop } from "../load/closed-loop.mjs";
import { cpuMs } from "../measure/cpu-ms.mjs";
import { percentile } from "../measure/percentile.mjs";
import { awaitCompleted } from "./await-completed.mjs";
import { steady } from "./steady.mjs";

/**
 * W2 and W3: 32 clients, accepted to completed, two workers; the rate counts until the system itself calls the last run
 * completed. Then, on the same processes, the steady `rates`.
 */
export async function closed(start, { sink, count, kind, steps, rates = [], seconds }) {
  const system = await start({ workers: 2 });
  try {
    sink.reset(steps);
    const warm = Math.min(400, count);
    await closedLoop(system, { count: warm, kind, prefix: "warm" });
    await awaitCompleted(system, { sink, count: warm });
    const pids = system.pids();
    const before = cpuMs(pids);
    const { sentAt, began } = await closedLoop(system, { count, kind, prefix: "closed" });
    const completedAt = await awaitCompleted(system, { sink, count: warm + count });
    const latencies = [...sentAt].map(([id, sent]) => sink.endedAt(id) - sent);
    const result = {
      perSecond: (count / (completedAt - began)) * 1_000, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99),
      cpuMsPerRun: (cpuMs(pids) - before) / count, doubles: doublesOf(sink.reports()), steady: {},
    };
    let known = warm + count;
    for (const rate of rates) {
      sink.reset(steps);
      result.steady[rate] = await steady(system, { sink, rate, seconds, known: (known += rate * seconds) });
    }
    return result;
  } finally {
    await system.stop();
  }
}

/** Steps that ended more than once; nobody was killed. */
function doublesOf(reports) {
  const ends = reports.filter(({ what }) => what === "e");
  return ends.length - new Set(ends.map(({ id, step }) => `${id}/${step}`)).size;
}
