import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { readConfig, type WorkerConfig } from "@mainstay/config";
import { createDatabase, type ReleaseLimits } from "@mainstay/database";
import { beginLiveness, type Liveness } from "@mainstay/liveness";
import { createLogger, createMetrics, logEvents, onShutdown } from "@mainstay/telemetry";
import { startWorker, type RunningWorker } from "./start-worker.js";
import { loadKnownWorkflows } from "./workflows/known-workflows.js";

const config: WorkerConfig = readConfig("worker", process.env);
const bornAs = randomUUID();
const logger = createLogger({ role: "worker", incarnation: bornAs, level: config.logLevel });
const metrics = createMetrics({ role: "worker" });
const db = createDatabase({
  url: config.databaseUrl, applicationName: "mainstay-worker", poolSize: config.dbPool,
  statementTimeoutMs: config.statementTimeoutMs, idleInTransactionMs: config.idleTxTimeoutMs,
  onStatement: ({ name, ms }) => { metrics.dbStatementDuration.observe({ op: name }, ms / 1000); },
});
const limits: ReleaseLimits = {
  crashLimit: config.crashLimit, lossLimit: config.lossLimit, handbackLimit: config.handBackLimit,
  backoffBaseMs: config.policy.retryBaseMs, retentionDays: config.retentionDays,
};
const workflows = await loadKnownWorkflows(db, { modulePath: config.workflows, pool: config.pool, production: config.env === "production" });

let worker: RunningWorker | undefined; // there once this incarnation lives
let liveness = await begin(bornAs, config.port);
worker = startWorker({
  config, db, limits, workflows, logger, metrics,
  life: {
    incarnation: () => liveness.incarnation,
    attest: () => { liveness.attest(); },
    validUntil: () => liveness.validUntil(),
    onLapsed: () => { void beginAnew(); },
  },
});
const shutdown = onShutdown(logger, [
  { name: "drain", withinMs: config.drainMs + 2_000, run: async (hurry) => { await liveness.drain(); await worker?.drain(hurry); } },
  { name: "retire", run: () => liveness.retire() },
  { name: "database", run: () => db.end() },
]);
logger.info(logEvents.processReady, { port: liveness.port ?? config.port, pool: config.pool, broker: config.broker, slots: config.slots });
if (config.broker === "none") logger.warn(logEvents.brokerless);
if (config.egressAllow.length > 0) logger.warn(logEvents.egressOpened, { ranges: config.egressAllow.join(",") });

function begin(incarnation: string, port: number): Promise<Liveness> {
  return beginLiveness({
    incarnation, role: "worker", pool: config.pool, host: hostname(), version: config.commit, slots: config.slots,
    config, limits, attests: "audit", probe: { host: config.host, port }, logger, metrics,
    onLost: () => { void beginAnew(); },
    onHint: (channel) => { worker?.hint(channel); },
    readiness: () => ({
      ready: true,
      reasons: config.broker === "redis" && worker?.brokerUp() !== true ? ["degraded: the broker is away, runs are found by sweeping"] : [],
    }),
    metricsText: () => metrics.text(),
  });
}

let renewing: Promise<void> | undefined;

/** The incarnation is over: everything held belongs to others. The process goes on under a new one. */
function beginAnew(): Promise<void> {
  renewing ??= (async () => {
    worker?.dropAll("the incarnation has lapsed");
    if (shutdown.signal.aborted) return;
    const { port } = liveness;
    await liveness.retire(0);
    liveness = await begin(randomUUID(), port ?? 0);
  })().catch((error: unknown) => {
    logger.error(logEvents.processCrashed, { err: error instanceof Error ? error : new Error(String(error)) });
    void shutdown.begin("no new incarnation could begin", 1);
  }).finally(() => { renewing = undefined; });
  return renewing;
}
