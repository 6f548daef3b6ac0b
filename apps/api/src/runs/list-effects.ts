import { EffectList, ErrorEnvelope, formatBoundId } from "@mainstay/contract";
import { readEffects } from "@mainstay/database";
import { wireEffectState } from "@mainstay/domain";
import { z } from "zod";
import { principalOf } from "../auth/principal-of.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { ownedRunId, unknownRun } from "./owned-run-id.js";

/** `GET /runs/{runId}/effects`: the ledger of a run and its lineage, without requests and answers. */
export function addListEffects(app: App, parts: ApiParts): void {
  app.get("/runs/:runId/effects", {
    config: { scope: "runs:read" },
    schema: {
      operationId: "listEffects",
      summary: "Lists what a run did to the outside world",
      tags: ["runs"],
      params: z.object({ runId: z.string() }),
      response: { 200: EffectList, 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 404: ErrorEnvelope, 503: ErrorEnvelope },
    },
  }, async (request) => {
    const principal = principalOf(request);
    const runId = ownedRunId(request.params.runId, principal);
    const rows = await readEffects(parts.database, principal.workspace, runId);
    if (rows === undefined) throw unknownRun();
    return {
      runId: formatBoundId(principal.workspace, runId),
      effects: rows.map((row) => ({
        effectId: formatBoundId(principal.workspace, row.id),
        nodeId: row.nodeId,
        attempt: row.attempt,
        keying: row.keying,
        state: wireEffectState[row.state],
        at: row.at.toISOString(),
        invocationId: row.launchId,
        ...(row.providerKey === null ? {} : { providerKey: row.providerKey }),
      })),
    };
  });
}
