import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { createTicketPublisher } from "@mainstay/broker";
import { databaseOptions, readConfig, releaseLimits } from "@mainstay/config";
import { checkConnections, createDatabase, retryWhileAway } from "@mainstay/database";
import { keepIncarnation } from "@mainstay/liveness";
import { createLogger, createMetrics, createTracing, logEvents, onShutdown } from "@mainstay/telemetry";
import { runOutbox } from "./outbox/run-outbox.js";
import { traceTickets } from "./outbox/trace-tickets.js";
import { reportMetrics } from "./report-metrics.js";
import { createRest } from "./rest.js";

const config = readConfig("relay", process.env);
const bornAs = randomUUID();
const tracing = await createTracing({ mode: config.tracing, relation: config.traceRelation, role: "relay", incarnation: bornAs, version: config.version });
const logger = createLogger({ role: "relay", incarnation: bornAs, level: config.logLevel, ...(tracing === undefined ? {} : { trace: tracing.current }) });
const metrics = createMetrics({ role: "relay" });
logger.info(logEvents.processStarting, { version: config.version, commit: config.commit });

const db = createDatabase({
  ...databaseOptions("relay", config),
  onStatement: ({ name, ms }) => { metrics.dbStatementDuration.observe({ op: name }, ms / 1_000); },
});

const rest = createRest();
const publisher = config.broker === "none" ? undefined : createTicketPublisher(
  { url: config.redisUrl, prefix: config.brokerPrefix, commandTimeoutMs: 2_000 },
  {
    onState: (up) => {
      if (up) logger.info(logEvents.brokerUp);
      else logger.warn(logEvents.brokerDown);
      rest.end();
    },
    onFailure: (reason) => { metrics.brokerErrors.inc({ reason }); },
    onError: (err, suppressed) => { logger.warn(logEvents.brokerError, { err, suppressed }); },
  },
);
const traced = publisher === undefined || tracing === undefined ? publisher : traceTickets(publisher, { db, tracing });
reportMetrics({ metrics, db, publisher, config });

await retryWhileAway(
  () => checkConnections({ db, directUrl: config.databaseDirectUrl, ...databaseOptions("relay", config) }),
  (error) => { logger.warn(logEvents.databaseUnreachable, { err: error instanceof Error ? error : new Error(String(error)) }); },
);

const incarnation = await keepIncarnation({
  bornAs, role: "relay", host: hostname(), version: config.version, config, attests: "loop", logger, metrics,
  limits: releaseLimits(config),
  probe: { host: config.host, port: config.port },
  onHint: rest.end,
  onEnd: () => { void shutdown.begin("no new incarnation could begin", 1); },
  readiness: () => ({
    ready: true,
    reasons: publisher?.brokerUp() === false ? ["degraded: the broker is away, workers find runs by sweeping"] : [],
  }),
  metricsText: () => metrics.text(),
});
const outbox = runOutbox({ db, publisher: traced, relay: bornAs, relayPollMs: config.relayPollMs, rest, logger, metrics });

const shutdown = onShutdown(logger, [
  { name: "drain", run: () => incarnation.drain() },
  { name: "outbox", run: () => outbox.stop() },
  { name: "broker", run: () => publisher?.close() },
  { name: "spans", run: () => tracing?.close() },
  { name: "retire", run: () => incarnation.retire() },
  { name: "database", run: () => db.end() },
]);
if (config.broker === "none") logger.warn(logEvents.brokerless);
logger.info(logEvents.processReady, { port: incarnation.port(), broker: config.broker });
