import { z } from "zod";
import { ErrorEnvelope } from "../errors/error-envelope.js";
import { CancelRunRequest, CancelRunResponse } from "./cancel-run.js";

/** Runs that one `POST /runs:bulk-cancel` names at most; more are refused with `details.maxRunIds`. */
export const maxRunIds = 100;

/** The body of `POST /runs:bulk-cancel`: 1 to 100 bound ids. */
export const BulkCancelRequest = z
  .strictObject({
    runIds: z.array(z.string()).min(1).meta({ maxItems: maxRunIds }),
    reason: CancelRunRequest.shape.reason,
  })
  .meta({ id: "BulkCancelRequest" });
/** See the schema of the same name. */
export type BulkCancelRequest = z.infer<typeof BulkCancelRequest>;

/** What became of each run, in the order they were named. */
export const BulkCancelResponse = z
  .strictObject({
    results: z.array(z.union([
      z.strictObject({ ok: z.literal(true), ...CancelRunResponse.shape }),
      z.strictObject({ ok: z.literal(false), error: ErrorEnvelope }),
    ])),
  })
  .meta({ id: "BulkCancelResponse" });
/** See the schema of the same name. */
export type BulkCancelResponse = z.infer<typeof BulkCancelResponse>;
