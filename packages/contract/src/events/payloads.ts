import { z } from "zod";
import { RunError } from "../errors/error-envelope.js";
import { DefinitionId, TypeId } from "../ids/grammars.js";
import { Owner } from "../runs/owner.js";

const milliseconds = z.number().int().min(0);
const leaseHost = z.enum(["browser", "cloud"]);
const extraKey = /^(openwop-|x-|vendor\.)/;

/** An object whose known members are checked and whose other members must bear an extension prefix. */
function extensible<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = new Set(Object.keys(shape));
  return z.looseObject(shape).superRefine((payload, context) => {
    for (const key of Object.keys(payload)) {
      if (!known.has(key) && !extraKey.test(key)) {
        context.addIssue({ code: "custom", path: [key], message: "expected an extension prefix openwop-, x- or vendor." });
      }
    }
  });
}

const lease = extensible({
  leaseId: z.string(),
  host: leaseHost,
  instanceId: z.string().optional(),
  expiresAt: z.iso.datetime().optional(),
  previousHost: leaseHost.optional(),
});

/** The payload of each event type of the protocol's major 2 that this engine writes or may meet in a log. */
export const eventPayloads = {
  "run.started": z.strictObject({
    workflowId: DefinitionId,
    inputs: z.unknown().optional(),
    transport: z.string().optional(),
    engineVersion: z.number().int().optional(),
    owner: Owner.optional(),
    tags: z.array(z.string()).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  "run.completed": z.strictObject({
    outputs: z.record(z.string(), z.unknown()),
    durationMs: milliseconds.optional(),
  }),
  "run.failed": z.strictObject({
    error: RunError,
    failedNodeId: DefinitionId.optional(),
    durationMs: milliseconds.optional(),
  }),
  "run.cancelled": z.strictObject({
    reason: z.string().optional(),
    cancelledBy: z.string().optional(),
    durationMs: milliseconds.optional(),
    parentRunId: z.string().optional(),
  }),
  "run.dead-lettered": z.strictObject({
    runId: z.string(),
    reason: z.string().min(1),
    attempts: z.number().int().min(1),
    nodeId: DefinitionId.optional(),
  }),
  "run.paused": z.strictObject({
    reason: z.string().optional(),
    drainPolicy: z.enum(["immediate", "drain-current-node"]).optional(),
    interruptedNodeId: DefinitionId.optional(),
    interruptedAttempt: z.number().int().min(0).optional(),
  }),
  "run.resumed": z.looseObject({}),
  "run.resume-started": z.strictObject({ fromStatus: z.string().optional() }),
  "run.restored-from-snapshot": z.strictObject({
    snapshotSeq: z.number().int().min(0).optional(),
    engineVersion: z.number().int().optional(),
  }),
  "workflow.restored": extensible({
    fromSnapshotSeq: z.number().int().min(0).optional(),
    engineVersion: z.number().int().optional(),
  }),
  "workflow.stalled": z.strictObject({
    stalledForMs: milliseconds.optional(),
    lastNodeId: DefinitionId.optional(),
  }),
  "node.started": z.strictObject({
    nodeId: DefinitionId,
    typeId: TypeId,
    attempt: z.number().int().min(0).optional(),
  }),
  "node.completed": z.strictObject({
    nodeId: DefinitionId,
    outputs: z.unknown().optional(),
    durationMs: milliseconds.optional(),
  }),
  "node.failed": z.strictObject({
    nodeId: DefinitionId,
    error: RunError,
    attempts: z.number().int().min(1).optional(),
  }),
  "node.retried": z.strictObject({
    nodeId: DefinitionId,
    attempt: z.number().int().min(1),
    delayMs: milliseconds.optional(),
    lastError: RunError.optional(),
  }),
  "node.skipped": z.strictObject({ nodeId: DefinitionId, reason: z.string().optional() }),
  "node.cancelled": z.strictObject({ nodeId: DefinitionId, reason: z.string().optional() }),
  "lease.acquired": lease,
  "lease.renewed": lease,
  "lease.lost": lease,
  "lease.handed-off": z.strictObject({
    leaseId: z.string(),
    fromHost: leaseHost,
    toHost: leaseHost,
    reason: z.string().optional(),
  }),
  "cap.breached": z.strictObject({
    kind: z.string(),
    limit: z.number(),
    observed: z.number(),
    nodeId: DefinitionId.optional(),
  }),
  "replay.diverged": z.strictObject({
    sourceRunId: z.string(),
    atSequence: z.number().int().min(0),
    originalEventId: z.string().optional(),
    divergenceKind: z.string().optional(),
    divergencePoint: z.string().optional(),
  }),
} as const satisfies Record<string, z.ZodType>;

/** A registered event type that may stand in a run's log. */
export type EventType = keyof typeof eventPayloads;

/** The payload that belongs to one event type. */
export type EventPayload<Type extends EventType> = z.infer<(typeof eventPayloads)[Type]>;
