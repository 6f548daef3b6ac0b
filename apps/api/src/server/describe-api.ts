import { readConfig } from "@mainstay/config";
import { createAccept, createDatabase, createFindKey } from "@mainstay/database";
import { createLogger, createMetrics } from "@mainstay/telemetry";
import { createLogWatch } from "../events/create-log-watch.js";
import { createCursors } from "../pages/cursor.js";
import { createBackpressure } from "../runs/create-backpressure.js";
import { createWorkflowCatalogue } from "../workflows/create-workflow-catalogue.js";
import { createServer } from "./create-server.js";

/**
 * The OpenAPI document as `/openapi.json` serves it, without a process to serve it: for the committed copy. Nothing is
 * connected to, the document depends on the routes alone.
 */
export async function describeApi(): Promise<unknown> {
  const config = readConfig("api", { DATABASE_URL: "postgres://nobody@127.0.0.1:1/nowhere" });
  const database = createDatabase({
    url: config.databaseUrl, applicationName: "describe", poolSize: 1, statementTimeoutMs: 1_000, idleInTransactionMs: 1_000,
  });
  const app = await createServer({
    config, database,
    accept: createAccept(database, { dispatchBoundMs: 0, giveUpMs: 1_000 }),
    findKey: createFindKey(database, { giveUpMs: 1_000 }),
    hint: () => undefined,
    workflows: createWorkflowCatalogue(database),
    backpressure: createBackpressure(database, { cap: config.acceptCap, workspaceCap: config.acceptCapWorkspace }),
    logWatch: createLogWatch(database, { pollMs: 60_000 }),
    cursors: createCursors("describe"),
    health: { live: () => true, ready: () => true, started: () => true },
    logger: createLogger({ role: "api", incarnation: "describe", level: "error" }),
    metrics: createMetrics({ role: "api" }),
    tracing: undefined,
    stopping: new AbortController().signal,
  });
  await app.ready();
  const document = app.swagger();
  await app.close();
  await database.end();
  return document;
}
