import { logEvents } from "@mainstay/telemetry";
import type { App } from "./app.js";
import type { ApiParts } from "./parts.js";

/** Measures every request by its route (never by its path, which holds ids) and logs it at debug. */
export function observeRequests(app: App, { logger, metrics }: ApiParts): void {
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "unknown";
    const seconds = reply.elapsedTime / 1_000;
    metrics.httpRequestDuration.observe(
      { route, method: request.method, code_class: `${String(Math.floor(reply.statusCode / 100))}xx` }, seconds,
    );
    if (logger.writes("debug")) {
      logger.debug(logEvents.requestServed, {
        requestId: request.id, route, method: request.method, status: reply.statusCode, ms: Math.round(seconds * 1_000),
      });
    }
    done();
  });
}
