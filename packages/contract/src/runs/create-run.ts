import { z } from "zod";
import { DefinitionId } from "../ids/grammars.js";
import { RunStatus } from "./run-status.js";

/** Per-run settings. Closed on every level; `version: 1` is required, zero time-outs are refused. */
export const Configurable = z
  .strictObject({
    version: z.literal(1),
    run: z
      .strictObject({
        recursionLimit: z.number().int().min(1).optional(),
        /** Milliseconds; the effective limit is the lesser of this and the advertised maximum. */
        runTimeoutMs: z.number().int().min(1).optional(),
        maxLoopIterations: z.number().int().min(1).optional(),
        escalationThreshold: z.number().optional(),
      })
      .optional(),
    ai: z.strictObject({}).optional(),
    distillation: z.strictObject({}).optional(),
    budget: z.strictObject({}).optional(),
    extensions: z.record(z.string().regex(/^[^.]+$/, "a dotted key is not allowed"), z.unknown()).optional(),
  })
  .meta({ id: "Configurable" });
/** See the schema of the same name. */
export type Configurable = z.infer<typeof Configurable>;

/**
 * The body of `POST /runs`, closed. `inputs` is checked against the workflow's own schema after this one. Members of
 * the protocol that this host does not serve (`callbackUrl`, `residency`, `mode`, `evalSuiteRef`, `agentId`) are
 * refused by the api with the member named.
 */
export const CreateRunRequest = z
  .strictObject({
    workflowId: DefinitionId,
    inputs: z.unknown().optional(),
    tenantId: z.string().optional(),
    /** With `OpenWOP-Dedup: enforce`: at most one live run per scope id. */
    scopeId: z.string().min(1).max(256).optional(),
    configurable: Configurable.optional(),
    tags: z.array(z.string().max(256)).max(100).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    residency: z.unknown().optional(),
    callbackUrl: z.unknown().optional(),
    mode: z.unknown().optional(),
    evalSuiteRef: z.unknown().optional(),
    agentId: z.unknown().optional(),
  })
  .meta({ id: "CreateRunRequest" });
/** See the schema of the same name. */
export type CreateRunRequest = z.infer<typeof CreateRunRequest>;

/** The `201` of `POST /runs`: run row, idempotency record and outbox row have committed together. */
export const CreateRunResponse = z
  .strictObject({
    runId: z.string(),
    status: RunStatus.extract(["pending", "running", "waiting-approval", "waiting-input", "waiting-external"]),
    eventsUrl: z.string(),
    statusUrl: z.string().optional(),
  })
  .meta({ id: "CreateRunResponse" });
/** See the schema of the same name. */
export type CreateRunResponse = z.infer<typeof CreateRunResponse>;
