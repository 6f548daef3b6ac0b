import { z } from "zod";
import { Configurable } from "./create-run.js";
import { RunStatus } from "./run-status.js";

/** What a branch may change. Closed: whatever is absent is the source's. */
export const RunOptionsOverlay = z
  .strictObject({
    /** Checked against the schema of the definition that the source runs on. */
    inputs: z.unknown().optional(),
    configurable: Configurable.optional(),
    tags: z.array(z.string().max(256)).max(100).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "RunOptionsOverlay" });
/** See the schema of the same name. */
export type RunOptionsOverlay = z.infer<typeof RunOptionsOverlay>;

/**
 * The body of `POST /runs/{runId}:fork`. `branch` needs `fromSeq` and may change options; `replay` begins at 0 unless told
 * otherwise and changes nothing. The api refuses the other combinations, naming the field.
 */
export const ForkRunRequest = z
  .strictObject({
    mode: z.enum(["replay", "branch"]),
    fromSeq: z.number().int().min(0).max(2_147_483_647).optional(),
    runOptionsOverlay: RunOptionsOverlay.optional(),
  })
  .meta({ id: "ForkRunRequest" });
/** See the schema of the same name. */
export type ForkRunRequest = z.infer<typeof ForkRunRequest>;

/** The `201` of a fork: a new run whose log begins with its source's events below `fromSeq`. */
export const ForkRunResponse = z
  .strictObject({
    runId: z.string(),
    sourceRunId: z.string(),
    fromSeq: z.number().int().min(0),
    mode: z.enum(["replay", "branch"]),
    status: RunStatus.extract(["pending", "running", "waiting-approval", "waiting-input", "waiting-external"]),
    eventsUrl: z.string(),
  })
  .meta({ id: "ForkRunResponse" });
/** See the schema of the same name. */
export type ForkRunResponse = z.infer<typeof ForkRunResponse>;
