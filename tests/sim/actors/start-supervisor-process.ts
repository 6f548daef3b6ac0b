import { retryWhileAway } from "@mainstay/database";
import { keepIncarnation } from "@mainstay/liveness";
import { startClock } from "../../../apps/supervisor/src/clock/start-clock.js";
import { deadlines } from "../../../apps/supervisor/src/lanes/deadlines.js";
import { instances } from "../../../apps/supervisor/src/lanes/instances.js";
import { positions } from "../../../apps/supervisor/src/lanes/positions.js";
import { release } from "../../../apps/supervisor/src/lanes/release.js";
import { retention } from "../../../apps/supervisor/src/lanes/retention.js";
import { deliver, startProcess, type SimProcess } from "../world/process.js";
import type { World } from "../world/world.js";
import { limitsOf, workerConfig } from "./settings.js";
import { loggerOf, poolOf, silentMetrics } from "./stage-parts.js";

/** A supervisor: the real clock and lanes; its incarnation is a witness like every other. */
export function startSupervisorProcess({ world, name }: { world: World; name: string }): SimProcess {
  const process = startProcess(name);
  const config = workerConfig("redis");
  const limits = limitsOf(config);
  const logger = loggerOf(name);
  const main = async (): Promise<void> => {
    const db = poolOf(config.statementTimeoutMs + 500);
    const incarnation = await keepIncarnation({
      bornAs: world.chance.uuid(), role: "supervisor", host: "sim", version: "1", config, limits, attests: "audit", logger, metrics: silentMetrics,
      onEnd: () => { process.dead = true; },
      readiness: () => ({ ready: true }),
      metricsText: async () => "",
    });
    startClock({
      db, logger, metrics: silentMetrics, holder: () => incarnation.current().incarnation, attest: () => { incarnation.current().attest(); },
      leaseMs: 4 * config.leaseMs, lookEveryMs: 2_000, stopGraceMs: config.cancelGraceMs,
      lanes: [release({ db, limits, logger, metrics: silentMetrics }), deadlines({ db, limits, cancelGraceMs: config.cancelGraceMs, logger, metrics: silentMetrics }), positions({ db }), retention({ db, retentionDays: config.retentionDays, graceHours: config.retentionGraceHours }), instances({ db })],
    });
  };
  deliver(process, () => {
    retryWhileAway(main).catch(() => { process.dead = true; });
  });
  return process;
}
