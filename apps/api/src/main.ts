import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { databaseOptions, readConfig, releaseLimits, type ApiConfig } from "@mainstay/config";
import { checkConnections, createAccept, createDatabase, createFindKey, createHint, retryWhileAway } from "@mainstay/database";
import { keepIncarnation, type KeptIncarnation } from "@mainstay/liveness";
import { createLogger, createMetrics, createTracing, logEvents, onShutdown } from "@mainstay/telemetry";
import { createLogWatch } from "./events/create-log-watch.js";
import { createCursors } from "./pages/cursor.js";
import { createBackpressure } from "./runs/create-backpressure.js";
import { createServer } from "./server/create-server.js";
import { createWorkflowCatalogue } from "./workflows/create-workflow-catalogue.js";

const config: ApiConfig = readConfig("api", process.env);
const bornAs = randomUUID();
const tracing = await createTracing({ mode: config.tracing, relation: config.traceRelation, role: "api", incarnation: bornAs, version: config.version });
const logger = createLogger({ role: "api", incarnation: bornAs, level: config.logLevel, ...(tracing === undefined ? {} : { trace: tracing.current }) });
const metrics = createMetrics({ role: "api" });
logger.info(logEvents.processStarting, { version: config.version, commit: config.commit });
const stopping = new AbortController();
setMaxListeners(0, stopping.signal); // every open stream and long poll hears it

const database = createDatabase({
  ...databaseOptions("api", config),
  onStatement: ({ name, ms }) => { metrics.dbStatementDuration.observe({ op: name }, ms / 1_000); },
});
const limits = releaseLimits(config);
/** So long a request's statements are tried again while the database is away; then it is answered 503, within 5 s in all. */
const giveUpMs = 2_000;
const onFlush = (op: string, rows: number): void => { metrics.groupCommitBatchSize.observe({ op }, rows); };
const accept = createAccept(database, {
  dispatchBoundMs: config.broker === "none" ? 0 : config.dispatchBoundMs, giveUpMs, onFlush,
});
const logWatch = createLogWatch(database, { pollMs: 2_000 });
/** There once this process stands in the database. */
const standing: { incarnation?: KeptIncarnation } = {};

const app = await createServer({
  config, database, accept, logger, metrics, tracing, logWatch,
  findKey: createFindKey(database, { giveUpMs, onFlush }),
  hint: createHint(database),
  workflows: createWorkflowCatalogue(database),
  backpressure: createBackpressure(database, { cap: config.acceptCap, workspaceCap: config.acceptCapWorkspace }),
  // One secret of the whole fleet: each api reads the cursors of the others.
  cursors: createCursors(config.signingKey ?? config.databaseUrl),
  health: {
    live: () => true,
    ready: () => standing.incarnation?.current().isValid() === true && !stopping.signal.aborted,
    started: () => standing.incarnation !== undefined,
  },
  stopping: stopping.signal,
});
metrics.buildInfo.set({ version: config.version, commit: config.commit, schema_version: "1" }, 1);
metrics.beforeScrape(() => {
  const { size, inUse, waiting } = database.pool();
  metrics.dbPoolSize.set(size);
  metrics.dbPoolInUse.set(inUse);
  metrics.dbPoolWaiting.set(waiting);
  metrics.acceptQueue.set(accept.depth());
});

const shutdown = onShutdown(logger, [
  { name: "drain", run: async () => { stopping.abort(); await standing.incarnation?.drain(); } },
  { name: "server", withinMs: 10_000, run: () => app.close() },
  { name: "accepts", withinMs: 10_000, run: () => accept.idle() },
  { name: "spans", run: () => tracing?.close() },
  { name: "retire", run: () => standing.incarnation?.retire() },
  { name: "database", run: () => database.end() },
]);
await app.listen({ host: config.host, port: config.port });
await retryWhileAway(
  () => checkConnections({ db: database, directUrl: config.databaseDirectUrl, ...databaseOptions("api", config) }),
  (error) => { logger.warn(logEvents.databaseUnreachable, { err: error instanceof Error ? error : new Error(String(error)) }); },
);
// An api holds nothing: when its incarnation lapses it goes on under a new one, and keeps answering meanwhile.
standing.incarnation = await keepIncarnation({
  bornAs, role: "api", host: hostname(), version: config.version, config, limits, attests: "loop", logger, metrics,
  onEnd: () => { void shutdown.begin("no new incarnation could begin", 1); },
  onHint: (channel) => { if (channel === "log") logWatch.hint(); },
  readiness: () => ({ ready: !stopping.signal.aborted }),
  metricsText: () => metrics.text(),
});
const { port } = app.server.address() as AddressInfo;
logger.info(logEvents.processReady, { port, host: config.host, broker: config.broker });
