import { CancelRunRequest, ErrorEnvelope, formatBoundId, CancelRunResponse } from "@mainstay/contract";
import { requestStop, type StopAnswer } from "@mainstay/database";
import { z } from "zod";
import { principalOf } from "../auth/principal-of.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { Refusal } from "../server/refusal.js";
import { ownedRunId, unknownRun } from "./owned-run-id.js";
import { recordedAnswer } from "./recorded-answer.js";

const operation = "cancelRun";

/**
 * `POST /runs/{runId}/cancel`: asks for the stop, never the holder's status. A run that nobody holds ends in the same
 * statement; a held one ends at its holder's next checkpoint or audit, or when the grace is over.
 */
export function addCancelRun(app: App, parts: ApiParts): void {
  app.post("/runs/:runId/cancel", {
    config: { scope: "runs:cancel" },
    schema: {
      operationId: "cancelRun",
      summary: "Cancels a run",
      tags: ["runs"],
      params: z.object({ runId: z.string() }),
      body: CancelRunRequest.nullish(),
      response: {
        200: CancelRunResponse, 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 404: ErrorEnvelope,
        409: ErrorEnvelope, 413: ErrorEnvelope, 415: ErrorEnvelope, 503: ErrorEnvelope,
      },
    },
  }, async (request, reply) => {
    const principal = principalOf(request);
    const id = ownedRunId(request.params.runId, principal);
    const runId = formatBoundId(principal.workspace, id);
    const { record, replayed } = recordedAnswer(parts, { request, reply }, { operation, body: { runId, body: request.body ?? {} } });
    const before = await replayed();
    if (before !== undefined) return before as CancelRunResponse;
    const { reason } = request.body ?? {};
    const stop = await requestStop(parts.database, {
      runId: id,
      workspace: principal.workspace,
      by: principal.keyId,
      ...(reason === undefined ? {} : { reason }),
      ...(record === undefined ? {} : {
        idempotency: {
          ...record,
          answers: { ended: { runId, status: "cancelled" }, asked: { runId, status: "cancelling" } },
        },
      }),
    });
    // A twin of this request may have ended the run between the two reads: then its answer is this one's too.
    const twin = stop.kind === "terminal" ? await replayed() : undefined;
    if (twin !== undefined) return twin as CancelRunResponse;
    return { runId, status: toStatus(stop, parts) };
  });
}

function toStatus(stop: StopAnswer, parts: ApiParts): CancelRunResponse["status"] {
  if (stop.kind === "not_found") throw unknownRun();
  if (stop.kind === "terminal") throw new Refusal("run_terminal", "the run has ended; nothing was done");
  parts.hint(stop.kind === "ended" ? "log" : "stop");
  return stop.kind === "ended" ? "cancelled" : "cancelling";
}
