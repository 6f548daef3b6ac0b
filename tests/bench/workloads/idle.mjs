import { setTimeout as sleep } from "node:timers/promises";
import { now } from "../measure/clock.mjs";
import { cpuMs } from "../measure/cpu-ms.mjs";

/** W5: five processes without work; statements per second by pg_stat_statements, CPU in percent of one core. */
export async function idle(start, { servers, settleMs, seconds }) {
  const system = await start({ workers: 2 });
  try {
    await sleep(settleMs);
    const pids = system.pids();
    const [calls, cpu, began] = [await servers.calls(system.database), cpuMs(pids), now()];
    await sleep(seconds * 1_000);
    const tookMs = now() - began;
    return { statementsPerSecond: ((await servers.calls(system.database)) - calls) / (tookMs / 1_000), cpuPercent: ((cpuMs(pids) - cpu) / tookMs) * 100 };
  } finally {
    await system.stop();
  }
}
