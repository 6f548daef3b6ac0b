import { ErrorEnvelope, StreamEventsQuery, streamFilter, streamModes } from "@mainstay/contract";
import { readEventCounts } from "@mainstay/database";
import { logEvents } from "@mainstay/telemetry";
import { z } from "zod";
import { principalOf } from "../auth/principal-of.js";
import { ownedRunId, unknownRun } from "../runs/owned-run-id.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { Refusal } from "../server/refusal.js";
import { writeStream } from "./write-stream.js";

/**
 * `GET /runs/{runId}/events`: server-sent events. What is asked for is judged only after the right to the run is
 * proven, so that an unknown or foreign run answers the same whatever else the request says.
 */
export function addStreamEvents(app: App, parts: ApiParts): void {
  app.get("/runs/:runId/events", {
    config: { scope: "runs:read" },
    exposeHeadRoute: false, // it would wait for what it does not show
    schema: {
      operationId: "streamEvents",
      summary: "Streams a run's log as server-sent events",
      tags: ["events"],
      params: z.object({ runId: z.string() }),
      querystring: StreamEventsQuery,
      response: {
        200: z.string().meta({ description: "text/event-stream: id is the sequence, event the type, data the event" }),
        400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 404: ErrorEnvelope, 503: ErrorEnvelope,
      },
    },
  }, async (request, reply) => {
    const principal = principalOf(request);
    const runId = ownedRunId(request.params.runId, principal);
    const { workspace } = principal;
    if (!(await readEventCounts(parts.database, workspace, [runId])).has(runId)) throw unknownRun();
    const shows = streamFilter(request.query.streamMode);
    if (shows === undefined) {
      throw new Refusal("unsupported_stream_mode", `streamMode: expected ${streamModes.join(", ")}, or the last three joined by commas`, {
        details: { supported: [...streamModes] },
      });
    }
    const after = lastEventId(request.headers["last-event-id"]);
    reply.hijack();
    const headers = reply.getHeaders();
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      // Its end is the end of the connection: a stopping process waits for no idle one.
      connection: "close",
    });
    reply.raw.flushHeaders();
    parts.metrics.sseConnections.inc();
    try {
      await writeStream(reply, parts, { workspace, runId, after, shows, bufferMs: request.query.bufferMs });
    } catch (error) {
      parts.logger.warn(logEvents.streamClosed, { requestId: request.id, err: error instanceof Error ? error : new Error(String(error)) });
      reply.raw.socket?.resetAndDestroy(); // what the kernel still holds for a reader that takes nothing is let go too
    } finally {
      parts.metrics.sseConnections.dec();
    }
    return reply;
  });
}

function lastEventId(header: string | string[] | undefined): number {
  if (header === undefined) return -1;
  if (typeof header === "string" && /^\d{1,9}$/.test(header)) return Number(header);
  throw new Refusal("validation_error", "Last-Event-ID: expected the sequence of an event, a whole number", {
    details: { field: "Last-Event-ID" },
  });
}
