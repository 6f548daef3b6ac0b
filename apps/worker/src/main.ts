import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { databaseOptions, readConfig, releaseLimits } from "@mainstay/config";
import { checkConnections, createDatabase, retryWhileAway } from "@mainstay/database";
import { keepIncarnation } from "@mainstay/liveness";
import { createLogger, createMetrics, createTracing, logEvents, onShutdown } from "@mainstay/telemetry";
import { startWorker, type RunningWorker } from "./start-worker.js";
import { loadKnownWorkflows } from "./workflows/known-workflows.js";

const config = readConfig("worker", process.env);
const bornAs = randomUUID();
const tracing = await createTracing({ mode: config.tracing, relation: config.traceRelation, role: "worker", incarnation: bornAs, version: config.version });
const logger = createLogger({ role: "worker", incarnation: bornAs, level: config.logLevel, ...(tracing === undefined ? {} : { trace: tracing.current }) });
const metrics = createMetrics({ role: "worker" });
logger.info(logEvents.processStarting, { version: config.version, commit: config.commit });
const db = createDatabase({
  ...databaseOptions("worker", config),
  onStatement: ({ name, ms }) => { metrics.dbStatementDuration.observe({ op: name }, ms / 1000); },
});
const limits = releaseLimits(config);
const onAway = (error: unknown): void => { logger.warn(logEvents.databaseUnreachable, { err: error instanceof Error ? error : new Error(String(error)) }); };
await retryWhileAway(() => checkConnections({ db, directUrl: config.databaseDirectUrl, ...databaseOptions("worker", config) }), onAway);
const workflows = await retryWhileAway(
  () => loadKnownWorkflows(db, { modulePath: config.workflows, pool: config.pool, production: config.env === "production" }), onAway,
);

/** Hints and probes may come before the worker stands; they find nothing to do. */
const standing: { worker?: RunningWorker } = {};
const incarnation = await keepIncarnation({
  bornAs, role: "worker", pool: config.pool, host: hostname(), version: config.version, slots: config.slots,
  config, limits, attests: "audit", probe: { host: config.host, port: config.port }, logger, metrics,
  onLost: () => { standing.worker?.dropAll("the incarnation has lapsed"); },
  onEnd: () => { void shutdown.begin("no new incarnation could begin", 1); },
  onHint: (channel) => { standing.worker?.hint(channel); },
  readiness: () => ({
    ready: standing.worker !== undefined,
    reasons: config.broker === "redis" && standing.worker?.brokerUp() !== true ? ["degraded: the broker is away, runs are found by sweeping"] : [],
  }),
  metricsText: () => metrics.text(),
});
const worker = startWorker({
  config, db, limits, workflows, logger, metrics, tracing,
  life: {
    incarnation: () => incarnation.current().incarnation,
    attest: () => { incarnation.current().attest(); },
    validUntil: () => incarnation.current().validUntil(),
    onLapsed: () => { incarnation.renew(incarnation.current()); },
  },
});
standing.worker = worker;

const shutdown = onShutdown(logger, [
  // the worker stops claiming at once, however long it takes to tell the others
  { name: "drain", withinMs: config.drainMs + 2_000, run: async (hurry) => { await Promise.all([worker.drain(hurry), incarnation.drain()]); } },
  { name: "spans", run: () => tracing?.close() },
  { name: "retire", run: () => incarnation.retire() },
  { name: "database", run: () => db.end() },
]);
logger.info(logEvents.workflowRegistered, { requirements: workflows.requires().length });
logger.info(logEvents.processReady, { port: incarnation.port(), pool: config.pool, broker: config.broker, slots: config.slots });
if (config.broker === "none") logger.warn(logEvents.brokerless);
if (config.egressAllow.length > 0) logger.warn(logEvents.egressOpened, { ranges: config.egressAllow.join(",") });
