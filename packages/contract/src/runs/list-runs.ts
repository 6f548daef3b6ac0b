import { z } from "zod";
import { DefinitionId } from "../ids/grammars.js";
import { RunSnapshot } from "./run-snapshot.js";
import { RunStatus } from "./run-status.js";

/** The largest page of `GET /runs`; a larger `limit` is clamped to it. */
export const runListMaxPageSize = 100;

/** Query of `GET /runs`: filters are exact, the cursor belongs to the filter it was issued for. */
export const ListRunsQuery = z
  .object({
    limit: z.coerce.number().int().min(1).optional(),
    cursor: z.string().max(1024).optional(),
    workflowId: DefinitionId.optional(),
    status: RunStatus.optional(),
  });
/** See the schema of the same name. */
export type ListRunsQuery = z.infer<typeof ListRunsQuery>;

/** A page of the caller's own runs, newest first. No `nextCursor`: that was the last page. */
export const ListRunsResponse = z
  .strictObject({ runs: z.array(RunSnapshot), nextCursor: z.string().optional() })
  .meta({ id: "ListRunsResponse" });
/** See the schema of the same name. */
export type ListRunsResponse = z.infer<typeof ListRunsResponse>;
