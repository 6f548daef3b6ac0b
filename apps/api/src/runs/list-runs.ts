import { ErrorEnvelope, ListRunsQuery, ListRunsResponse, runListMaxPageSize } from "@mainstay/contract";
import { readRuns } from "@mainstay/database";
import { principalOf } from "../auth/principal-of.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { Refusal } from "../server/refusal.js";
import { toSnapshot } from "./to-snapshot.js";

/** Runs on a page when the query names no number. */
const defaultPageSize = 25;

/** `GET /runs`: the workspace's runs, newest first, by keyset: a run created meanwhile moves no page. */
export function addListRuns(app: App, parts: ApiParts): void {
  app.get("/runs", {
    config: { scope: "runs:read" },
    schema: {
      operationId: "listRuns",
      summary: "Lists the workspace's runs, newest first",
      tags: ["runs"],
      querystring: ListRunsQuery,
      response: { 200: ListRunsResponse, 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 503: ErrorEnvelope },
    },
  }, async (request) => {
    const { workspace } = principalOf(request);
    const { cursor, workflowId, status } = request.query;
    const limit = Math.min(request.query.limit ?? defaultPageSize, runListMaxPageSize);
    const filter = ["listRuns", workspace, workflowId ?? null, status ?? null];
    const before = cursor === undefined ? undefined : parts.cursors.read(cursor, filter);
    if (cursor !== undefined && before === undefined) {
      throw new Refusal("validation_error", "cursor: expected the nextCursor of a page with the same filter", { details: { field: "cursor" } });
    }
    const rows = await readRuns(parts.database, workspace, {
      limit: limit + 1,
      ...(before === undefined ? {} : { before }),
      ...(workflowId === undefined ? {} : { workflowId }),
      ...(status === undefined ? {} : { status }),
    });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      runs: page.map((row) => toSnapshot(row, workspace)),
      ...(rows.length > limit && last !== undefined ? { nextCursor: parts.cursors.issue(last.id, filter) } : {}),
    };
  });
}
