import { z } from "zod";
import { RunStatus } from "./run-status.js";

/** The body of `POST /runs/{runId}/cancel`; may be absent altogether. */
export const CancelRunRequest = z
  .strictObject({ reason: z.string().max(1024).optional() })
  .meta({ id: "CancelRunRequest" });
/** See the schema of the same name. */
export type CancelRunRequest = z.infer<typeof CancelRunRequest>;

/** `cancelling` while a holder still has to honour the stop, `cancelled` when the run has ended. */
export const CancelRunResponse = z
  .strictObject({ runId: z.string(), status: RunStatus.extract(["cancelling", "cancelled"]) })
  .meta({ id: "CancelRunResponse" });
/** See the schema of the same name. */
export type CancelRunResponse = z.infer<typeof CancelRunResponse>;
