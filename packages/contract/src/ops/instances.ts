import { z } from "zod";

/** One process incarnation as the database knows it. `instanceId` is opaque and new with every start. */
export const Instance = z
  .strictObject({
    instanceId: z.string(),
    role: z.enum(["api", "relay", "worker", "supervisor"]),
    pool: z.string().nullable(),
    host: z.string(),
    version: z.string(),
    state: z.enum(["live", "draining", "lapsed", "ended"]),
    slots: z.number().int().nullable(),
    startedAt: z.iso.datetime(),
    /** Milliseconds since its last heartbeat, on the database's clock. */
    beatAgeMs: z.number().int().min(0),
    leaseMs: z.number().int().min(1),
  })
  .meta({ id: "Instance" });
/** See the schema of the same name. */
export type Instance = z.infer<typeof Instance>;

/** The answer of `GET /ops/v1/instances`: live ones first, then the recently gone. */
export const InstancesResponse = z
  .strictObject({ instances: z.array(Instance) })
  .meta({ id: "InstancesResponse" });
/** See the schema of the same name. */
export type InstancesResponse = z.infer<typeof InstancesResponse>;
