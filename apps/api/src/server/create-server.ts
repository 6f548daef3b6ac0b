import type { IncomingHttpHeaders } from "node:http";
import helmet from "@fastify/helmet";
import { parseJson } from "@mainstay/domain";
import fastify from "fastify";
import { validatorCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import "../auth/principal.js";
import { authorise } from "../auth/authorise.js";
import { addDiscovery } from "../discovery/get-discovery.js";
import { addEffectSeams } from "../discovery/get-effect-seams.js";
import { addPollEvents } from "../events/poll-events.js";
import { addStreamEvents } from "../events/stream-events.js";
import { addHealth } from "../health/add-health.js";
import { addBounds } from "../ops/get-bounds.js";
import { addDoctor } from "../ops/get-doctor.js";
import { addInstances } from "../ops/list-instances.js";
import { addBulkCancelRuns } from "../runs/bulk-cancel-runs.js";
import { addCancelRun } from "../runs/cancel-run.js";
import { addCreateRun } from "../runs/create-run.js";
import { addForkRun } from "../runs/fork-run.js";
import { addGetRun } from "../runs/get-run.js";
import { addListEffects } from "../runs/list-effects.js";
import { addListRuns } from "../runs/list-runs.js";
import { addPauseRun } from "../runs/pause-run.js";
import { addResumeRun } from "../runs/resume-run.js";
import { addOpenApi, docsPath } from "./add-open-api.js";
import { createAnswerError } from "./answer-error.js";
import type { App } from "./app.js";
import { closeConnections } from "./close-connections.js";
import { createMethodGuide } from "./create-method-guide.js";
import { malformedRequest } from "./malformed-request.js";
import { negotiateVersion } from "./negotiate-version.js";
import { observeRequests } from "./observe-requests.js";
import type { ApiParts } from "./parts.js";
import { Refusal } from "./refusal.js";
import { traceRequests } from "./trace-requests.js";

/** The longest path parameter: a bound id, fully escaped. */
const maxParamLength = 1_024;

/** A connection on which nothing moves for this long, in milliseconds, is cut: longer than the longest poll, and than the silence of a stream. */
const connectionTimeout = 90_000;

/**
 * Builds the HTTP server of the api; it does not listen yet. Each route names the scope it needs or says that it is
 * open: one that does neither is refused here.
 */
export async function createServer(parts: ApiParts): Promise<App> {
  const answerError = createAnswerError({ logger: parts.logger, bodyMaxBytes: parts.config.bodyMaxBytes, database: parts.database, metrics: parts.metrics });
  const app: App = fastify({
    bodyLimit: parts.config.bodyMaxBytes,
    exposeHeadRoutes: true,
    forceCloseConnections: "idle",
    genReqId: () => crypto.randomUUID(),
    keepAliveTimeout: 72_000,
    connectionTimeout,
    requestTimeout: 30_000,
    http: { connectionsCheckingInterval: 5_000, headersTimeout: 10_000 }, // Node holds a request to the longer of the two times
    routerOptions: { maxParamLength },
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
    clientErrorHandler: ({ code }, socket) => {
      if (socket.writable) socket.end(malformedRequest(code));
      setTimeout(() => { socket.destroy(); }, 1_000).unref(); // who goes on sending is not waited for
    },
  }).withTypeProvider<ZodTypeProvider>();

  app.setValidatorCompiler(validatorCompiler);
  // Answers are typed by their schemas and checked against them in tests; they are not parsed once more here.
  app.setSerializerCompiler(() => JSON.stringify);
  app.decorateRequest("principal", undefined);
  app.decorateRequest("asked", undefined);
  readJsonBodies(app);
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.scope === undefined && !url.startsWith(docsPath)) throw new Error(`${String(method)} ${url} names no scope; say "open" if that is meant`);
  });
  traceRequests(app, parts);
  app.addHook("onRequest", negotiateVersion);
  app.addHook("onRequest", async (request) => {
    const { config, url } = request.routeOptions;
    if (request.is404 || config.scope === "open" || url?.startsWith(docsPath) === true) return;
    const scope = config.scope ?? "ops:admin";
    request.principal = await authorise(request.headers.authorization, scope, parts.findKey);
  });
  app.addHook("onSend", async (_request, reply) => {
    if (parts.stopping.aborted) void reply.header("connection", "close");
    await Promise.resolve();
  });
  closeConnections(app);
  observeRequests(app, parts);
  app.setErrorHandler(answerError);
  const guide = createMethodGuide(app);
  app.setNotFoundHandler((request, reply) => answerError(guide(request), request, reply));
  // An expectation is no condition: a request that bears one is answered like any other.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));

  await app.register(helmet, { contentSecurityPolicy: false, crossOriginResourcePolicy: false });
  await addOpenApi(app, parts.config.version);
  for (const add of [
    addDiscovery, addCreateRun, addListRuns, addGetRun, addCancelRun, addBulkCancelRuns, addPauseRun, addResumeRun, addForkRun, addListEffects, addPollEvents, addStreamEvents,
    addBounds, addDoctor, addEffectSeams, addInstances, addHealth,
  ]) {
    add(app, parts);
  }
  return app;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function readJsonBodies(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    try {
      refuseEncodings(request.headers);
      done(null, body.length === 0 ? undefined : parseJson(decode(body as Buffer)));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** A body is read as it comes, in UTF-8: anything else would be misread, not refused. */
function refuseEncodings({ "content-encoding": encoding = "identity", "content-type": type = "" }: IncomingHttpHeaders): void {
  if (encoding !== "identity") throw new Refusal("unsupported_media_type", "content-encoding: expected none; send the body as it is");
  const charset = /;\s*charset="?([^";\s]+)/i.exec(type)?.[1] ?? "utf-8";
  if (!/^utf-?8$/i.test(charset)) throw new Refusal("unsupported_media_type", "content-type: expected charset utf-8, or none");
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new Refusal("validation_error", "the body: expected UTF-8");
  }
}
