import { ErrorEnvelope, formatBoundId, isTerminalStatus, PollEventsQuery, PollEventsResponse, type RunStatus } from "@mainstay/contract";
import { readEvents } from "@mainstay/database";
import { z } from "zod";
import { principalOf } from "../auth/principal-of.js";
import { ownedRunId, unknownRun } from "../runs/owned-run-id.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { hangUp } from "./hang-up.js";
import { toEvent } from "./to-event.js";

/** Events in one answer at most; a reader asks on from `lastSequence`. */
export const eventPageSize = 1_000;

/** Bytes of payload in one answer, and the one event that reaches them; a reader asks on. */
const pageMaxBytes = 1_048_576;

/** `GET /runs/{runId}/events/poll`: the tail of the log at once, or what comes within the time-out. */
export function addPollEvents(app: App, parts: ApiParts): void {
  app.get("/runs/:runId/events/poll", {
    config: { scope: "runs:read" },
    exposeHeadRoute: false, // it would wait for what it does not show
    schema: {
      operationId: "pollEvents",
      summary: "Reads a run's log, waiting for news",
      tags: ["events"],
      params: z.object({ runId: z.string() }),
      querystring: PollEventsQuery,
      response: {
        200: PollEventsResponse, 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 404: ErrorEnvelope,
        503: ErrorEnvelope,
      },
    },
  }, async (request, reply) => {
    const principal = principalOf(request);
    const { workspace } = principal;
    const runId = ownedRunId(request.params.runId, principal);
    const after = request.query.afterSequence ?? -1;
    const giveUpAt = performance.now() + request.query.timeout * 1_000;
    const signal = hangUp(reply, parts.stopping);
    for (;;) {
      const page = await readEvents(parts.database, workspace, { runId, after, limit: eventPageSize, maxBytes: pageMaxBytes });
      if (page === undefined) throw unknownRun();
      const status = page.status as RunStatus;
      const lastSequence = page.events.at(-1)?.sequence ?? page.eventCount - 1;
      const isTerminal = isTerminalStatus(status) && lastSequence === page.eventCount - 1;
      const leftMs = giveUpAt - performance.now();
      if (page.events.length > 0 || isTerminal || leftMs <= 0 || signal.aborted) {
        return {
          runId: formatBoundId(workspace, runId),
          events: page.events.map((row) => toEvent(row, workspace, runId)),
          lastSequence,
          status,
          isTerminal,
        };
      }
      await parts.logWatch.wait({ workspace, runId, known: page.eventCount, withinMs: leftMs, signal });
    }
  });
}
