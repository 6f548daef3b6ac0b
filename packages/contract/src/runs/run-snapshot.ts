import { z } from "zod";
import { RunError } from "../errors/error-envelope.js";
import { Configurable } from "./create-run.js";
import { Owner } from "./owner.js";
import { RunStatus } from "./run-status.js";

/** One run as `GET /runs/{runId}` shows it: closed; its strong `ETag` changes with every logged event. */
export const RunSnapshot = z
  .strictObject({
    runId: z.string(),
    workflowId: z.string(),
    status: RunStatus,
    owner: Owner,
    eventLogSchemaVersion: z.number().int().min(1),
    engineVersion: z.number().int().optional(),
    currentNodeId: z.string().optional(),
    error: RunError.optional(),
    configurable: Configurable.optional(),
    tags: z.array(z.string()).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    variables: z.record(z.string(), z.unknown()).optional(),
    channels: z.record(z.string(), z.unknown()).optional(),
    nodeStates: z.record(z.string(), z.unknown()).optional(),
    startedAt: z.iso.datetime().optional(),
    completedAt: z.iso.datetime().optional(),
    parentRunId: z.string().optional(),
  })
  .meta({ id: "RunSnapshot" });
/** See the schema of the same name. */
export type RunSnapshot = z.infer<typeof RunSnapshot>;
