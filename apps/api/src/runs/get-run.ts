import { ErrorEnvelope, RunSnapshot } from "@mainstay/contract";
import { readRun } from "@mainstay/database";
import { z } from "zod";
import { principalOf } from "../auth/principal-of.js";
import { isNotModified } from "../pages/entity-tag.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { ownedRunId, unknownRun } from "./owned-run-id.js";
import { toSnapshot } from "./to-snapshot.js";

/** `GET /runs/{runId}`: the snapshot. Its tag is the last sequence and the status, so each move changes it. */
export function addGetRun(app: App, parts: ApiParts): void {
  app.get("/runs/:runId", {
    config: { scope: "runs:read" },
    schema: {
      operationId: "getRun",
      summary: "Reads one run",
      tags: ["runs"],
      params: z.object({ runId: z.string() }),
      response: {
        200: RunSnapshot, 304: z.undefined(), 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope,
        404: ErrorEnvelope, 503: ErrorEnvelope,
      },
    },
  }, async (request, reply) => {
    const principal = principalOf(request);
    const runId = ownedRunId(request.params.runId, principal);
    const row = await readRun(parts.database, principal.workspace, runId);
    if (row === undefined) throw unknownRun();
    const tag = `"${String(row.eventCount - 1)}-${row.status}"`;
    void reply.header("etag", tag);
    if (isNotModified(request.headers["if-none-match"], tag)) return reply.code(304).send();
    return toSnapshot(row, principal.workspace);
  });
}
