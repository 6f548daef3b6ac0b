import { BulkCancelRequest, BulkCancelResponse, ErrorEnvelope, formatBoundId, maxRunIds } from "@mainstay/contract";
import { requestStops, type StopItem } from "@mainstay/database";
import { principalOf } from "../auth/principal-of.js";
import type { Principal } from "../auth/principal.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { Refusal } from "../server/refusal.js";
import { ownedRunId, unknownRun } from "./owned-run-id.js";
import { recordedAnswer } from "./recorded-answer.js";
import { tellStop } from "./tell-stop.js";
import { refuseState } from "./refuse-state.js";

const operation = "bulkCancelRuns";

/**
 * `POST /runs:bulk-cancel`: asks up to 100 runs to stop, in one statement, each as `POST /runs/{runId}/cancel` does. What
 * is wrong with one run is told in its own result; the others are stopped all the same.
 */
export function addBulkCancelRuns(app: App, parts: ApiParts): void {
  app.post("/runs::bulk-cancel", {
    config: { scope: "runs:cancel" },
    schema: {
      operationId: operation,
      summary: "Cancels many runs",
      tags: ["runs"],
      body: BulkCancelRequest,
      response: {
        200: BulkCancelResponse, 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 409: ErrorEnvelope,
        413: ErrorEnvelope, 415: ErrorEnvelope, 503: ErrorEnvelope,
      },
    },
  }, async (request, reply) => {
    const principal = principalOf(request);
    const { runIds, reason } = request.body;
    if (runIds.length > maxRunIds) {
      throw new Refusal("validation_error", `runIds: expected at most ${String(maxRunIds)} runs, seen ${String(runIds.length)}; send several requests`, {
        details: { field: "runIds", maxRunIds },
      });
    }
    const { record, replayed } = recordedAnswer(parts, { request, reply }, { operation, body: request.body });
    const before = await replayed();
    if (before !== undefined) return before as BulkCancelResponse;
    const items = runIds.map((runId) => toItem(runId, principal));
    const { stops, recorded } = await requestStops(parts.database, {
      workspace: principal.workspace, by: principal.keyId, items,
      ...(reason === undefined ? {} : { reason }), ...(record === undefined ? {} : { idempotency: record }),
    });
    for (const one of new Map(stops.map((stop, index) => [items[index]?.runId, stop])).values()) tellStop(one, parts);
    // A twin of this request may have been the first: then its answer is this one's too.
    const twin = record === undefined || recorded ? undefined : await replayed();
    if (twin !== undefined) return twin as BulkCancelResponse;
    return { results: items.map(({ answers }, index) => answers[stops[index]?.kind ?? "not_found"]) } as BulkCancelResponse;
  });
}

/** A run to stop, or why it may not be asked, with the answer to whatever becomes of it. */
function toItem(segment: string, principal: Principal): StopItem {
  try {
    const id = ownedRunId(segment, principal);
    const runId = formatBoundId(principal.workspace, id);
    return {
      runId: id,
      answers: {
        ended: { ok: true, runId, status: "cancelled" }, asked: { ok: true, runId, status: "cancelling" },
        terminal: refused(refuseState({ kind: "terminal" }, "a live run")), not_found: refused(unknownRun()),
      },
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { runId: undefined, answers: { refused: refused(error) } };
  }
}

function refused({ code, message, detail }: Refusal): Record<string, unknown> {
  return { ok: false, error: { error: code, message, ...(detail.details === undefined ? {} : { details: detail.details }) } };
}
