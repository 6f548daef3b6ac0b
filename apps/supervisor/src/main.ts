import { randomUUID } from "node:crypto";
import { readConfig } from "@mainstay/config";
import { createDatabase, type ReleaseLimits } from "@mainstay/database";
import { createLogger, createMetrics, logEvents, onShutdown } from "@mainstay/telemetry";
import { startClock } from "./clock/start-clock.js";
import { keepIncarnation } from "./keep-incarnation.js";
import { deadlines } from "./lanes/deadlines.js";
import { instances } from "./lanes/instances.js";
import { positions } from "./lanes/positions.js";
import { release } from "./lanes/release.js";
import { retention } from "./lanes/retention.js";
import { reportMetrics } from "./metrics/report-metrics.js";

const config = readConfig("supervisor", process.env);
const bornAs = randomUUID();
const logger = createLogger({ role: "supervisor", incarnation: bornAs, level: config.logLevel });
const metrics = createMetrics({ role: "supervisor" });
const db = createDatabase({
  url: config.databaseUrl, applicationName: "mainstay-supervisor", poolSize: config.dbPool,
  statementTimeoutMs: config.statementTimeoutMs, idleInTransactionMs: config.idleTxTimeoutMs,
  onStatement: ({ name, ms }) => { metrics.dbStatementDuration.observe({ op: name }, ms / 1_000); },
});
const limits: ReleaseLimits = {
  crashLimit: config.crashLimit, lossLimit: config.lossLimit, handbackLimit: config.handBackLimit,
  backoffBaseMs: config.policy.retryBaseMs, retentionDays: config.retentionDays,
};
reportMetrics({ metrics, db, config });

const incarnation = await keepIncarnation({
  bornAs, config, limits, logger, metrics,
  onEnd: () => { void shutdown.begin("no new incarnation could begin", 1); },
});
const clock = startClock({
  db, logger, metrics, holder: incarnation.id, attest: incarnation.attest,
  leaseMs: 4 * config.leaseMs, lookEveryMs: 2_000, stopGraceMs: config.cancelGraceMs,
  lanes: [
    release({ db, limits, logger, metrics }),
    deadlines({ db, limits, cancelGraceMs: config.cancelGraceMs, logger }),
    positions({ db }),
    retention({ db }),
    instances({ db }),
  ],
});
const shutdown = onShutdown(logger, [
  { name: "drain", run: () => incarnation.drain() },
  { name: "lanes", withinMs: 15_000, run: () => clock.stop() },
  { name: "retire", run: () => incarnation.retire() },
  { name: "database", run: () => db.end() },
]);
logger.info(logEvents.processReady, { port: incarnation.port() });
