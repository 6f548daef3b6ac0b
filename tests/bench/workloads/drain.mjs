import { setTimeout as sleep } from "node:timers/promises";
import { now } from "../measure/clock.mjs";
import { preloadRuns } from "./preload-runs.mjs";

/**
 * W6: two workers meet `waiting` accepted runs; the rate is that of the runs from the `from`th to the `to`th that ended, so
 * that start and end of the queue are left out.
 */
export async function drain(start, { sink, waiting, from, to, tell }) {
  sink.reset(1);
  const system = await start({
    workers: 2, env: { MAINSTAY_ACCEPT_CAP: "1000000" },
    beforeWorkers: async (url) => { await preloadRuns(url, waiting, tell); },
  });
  try {
    for (let until = now() + 120_000; sink.ended() < to; await sleep(20)) {
      if (now() > until) throw new Error(`only ${sink.ended()} of ${to} runs ended within 120 s`);
    }
    const times = sink.reports().filter(({ what }) => what === "e").map(({ at }) => at).sort((a, b) => a - b);
    return { perSecond: ((to - from) / (times[to - 1] - times[from - 1])) * 1_000 };
  } finally {
    await system.stop();
  }
}
