import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { databaseOptions, readConfig, releaseLimits } from "@mainstay/config";
import { checkConnections, createDatabase, retryWhileAway } from "@mainstay/database";
import { keepIncarnation } from "@mainstay/liveness";
import { createLogger, createMetrics, logEvents, onShutdown } from "@mainstay/telemetry";
import { startClock } from "./clock/start-clock.js";
import { deadlines } from "./lanes/deadlines.js";
import { instances } from "./lanes/instances.js";
import { positions } from "./lanes/positions.js";
import { release } from "./lanes/release.js";
import { retention } from "./lanes/retention.js";
import { reportFleet } from "./metrics/report-fleet.js";
import { reportMetrics } from "./metrics/report-metrics.js";

const config = readConfig("supervisor", process.env);
const bornAs = randomUUID();
const logger = createLogger({ role: "supervisor", incarnation: bornAs, level: config.logLevel });
const metrics = createMetrics({ role: "supervisor" });
logger.info(logEvents.processStarting, { version: config.version, commit: config.commit });
const db = createDatabase({
  ...databaseOptions("supervisor", config),
  onStatement: ({ name, ms }) => { metrics.dbStatementDuration.observe({ op: name }, ms / 1_000); },
});
const limits = releaseLimits(config);
reportMetrics({ metrics, db, config });
reportFleet({ metrics, db });

await retryWhileAway(
  () => checkConnections({ db, directUrl: config.databaseDirectUrl, ...databaseOptions("supervisor", config) }),
  (error) => { logger.warn(logEvents.databaseUnreachable, { err: error instanceof Error ? error : new Error(String(error)) }); },
);

const incarnation = await keepIncarnation({
  bornAs, role: "supervisor", host: hostname(), version: config.version, config, limits, attests: "audit", logger, metrics,
  probe: { host: config.host, port: config.port },
  readiness: () => ({ ready: true }),
  metricsText: () => metrics.text(),
  onEnd: () => { void shutdown.begin("no new incarnation could begin", 1); },
});
const clock = startClock({
  db, logger, metrics, holder: () => incarnation.current().incarnation, attest: () => incarnation.current().attest(),
  leaseMs: 4 * config.leaseMs, lookEveryMs: 2_000, stopGraceMs: config.cancelGraceMs,
  lanes: [
    release({ db, limits, logger, metrics }),
    deadlines({ db, limits, cancelGraceMs: config.cancelGraceMs, logger, metrics }),
    positions({ db }),
    retention({ db, retentionDays: config.retentionDays, graceHours: config.retentionGraceHours }),
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
