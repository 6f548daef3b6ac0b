import type { TraceSpan } from "@mainstay/telemetry";
import type { App } from "./app.js";
import type { ApiParts } from "./parts.js";

/* eslint-disable @typescript-eslint/consistent-type-definitions -- only interfaces merge with the framework's own */
declare module "fastify" {
  interface FastifyRequest {
    /** The request's span, when the process traces. */
    trace: TraceSpan | undefined;
  }
}

/** One SERVER span a request, child of the caller's `traceparent`. Nothing is hooked in when the process does not trace. */
export function traceRequests(app: App, { tracing }: ApiParts): void {
  app.decorateRequest("trace", undefined);
  if (tracing === undefined) return;
  app.addHook("onRequest", (request, _reply, done) => {
    const { traceparent } = request.headers;
    request.trace = tracing.serve({
      route: request.routeOptions.url ?? "unknown", method: request.method,
      traceparent: typeof traceparent === "string" ? traceparent : undefined,
    });
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { statusCode: status } = reply;
    request.trace?.end({ status, ...(status >= 500 ? { errorType: String(status) } : {}) });
    done();
  });
}
