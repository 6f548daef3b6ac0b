import { setTimeout as sleep } from "node:timers/promises";
import { closedLoop } from "../load/closed-loop.mjs";
import { now } from "../measure/clock.mjs";
import { awaitCompleted } from "./await-completed.mjs";

const RUNS = 40; // fewer than the slots of one worker: a survivor has room for all that was lost

/**
 * W4: SIGKILL of a worker while it holds runs, each past a recorded first step and inside its second. Times run from the
 * kill to the first and to the last of the lost steps beginning again.
 */
export async function kill(start, { sink, deathWatch }) {
  const system = await start({ workers: 2, env: { MAINSTAY_DEATH_WATCH: deathWatch ? "on" : "off" } });
  try {
    sink.reset(2);
    await sleep(2_000); // every process watches its peers by then
    await closedLoop(system, { count: RUNS, kind: "slow", ms: 2_000, prefix: "slow" });
    const begun = () => sink.reports().filter(({ step, what }) => step === 2 && what === "s");
    for (let until = now() + 20_000; begun().length < RUNS && now() < until;) await sleep(5);
    const workers = system.fleet.of("worker").map((worker) => ({ worker, count: begun().filter(({ pid }) => pid === worker.pid).length }));
    const [{ worker }] = workers.sort((a, b) => b.count - a.count);
    const open = (pid) => {
      const ended = new Set(sink.reports().filter(({ step, what }) => step === 2 && what === "e").map(({ id }) => id));
      return begun().filter((report) => report.pid === pid && !ended.has(report.id)).map(({ id }) => id);
    };
    const killedAt = now();
    await worker.kill("SIGKILL");
    await sleep(20); // its last reports are on their way
    const lost = new Set(open(worker.pid));
    await awaitCompleted(system, { sink, count: RUNS, withinMs: 60_000 });
    const again = begun().filter(({ pid, id }) => pid !== worker.pid && lost.has(id)).map(({ at }) => at - killedAt);
    const executions = (step) => sink.reports().filter((report) => report.step === step && report.what === "s").length;
    return {
      lost: lost.size, reexecuted: again.length, firstMs: Math.min(...again), allMs: Math.max(...again),
      executionsPerRun: executions(2) / RUNS, doubles: executions(1) - RUNS,
    };
  } finally {
    await system.stop();
  }
}
