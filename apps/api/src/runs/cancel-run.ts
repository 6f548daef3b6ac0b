import { CancelRunRequest, CancelRunResponse } from "@mainstay/contract";
import { requestStop, type StopAnswer } from "@mainstay/database";
import { z } from "zod";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { askedMove, moveRefusals } from "./asked-move.js";
import { tellStop } from "./tell-stop.js";
import { refuseState } from "./refuse-state.js";

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
      response: { 200: CancelRunResponse, ...moveRefusals },
    },
  }, async (request, reply) => {
    const { id, runId, workspace, by, record, replayed } = askedMove(parts, { request, reply }, operation);
    const before = await replayed();
    if (before !== undefined) return before as CancelRunResponse;
    const { reason } = request.body ?? {};
    const stop = await requestStop(parts.database, {
      runId: id, workspace, by,
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
  if (stop.kind === "not_found" || stop.kind === "terminal") throw refuseState(stop, "a live run");
  tellStop(stop, parts);
  return stop.kind === "ended" ? "cancelled" : "cancelling";
}
