import { z } from "zod";

/** The protocol's word for our `launched`, `confirmed`, `absent`, `unknown`, in this order. */
export const EffectState = z.enum(["claimed", "completed", "released", "escaped"]);
/** See the schema of the same name. */
export type EffectState = z.infer<typeof EffectState>;

/** One row of the effect ledger, without request or answer. */
export const EffectRow = z
  .strictObject({
    effectId: z.string(),
    nodeId: z.string(),
    attempt: z.number().int().min(0),
    keying: z.enum(["business-identity", "activity-recipe"]),
    state: EffectState,
    at: z.iso.datetime(),
    invocationId: z.string().optional(),
    /** The `Idempotency-Key` that the other side saw: the same on every launch. */
    providerKey: z.string().optional(),
  })
  .meta({ id: "EffectRow" });
/** See the schema of the same name. */
export type EffectRow = z.infer<typeof EffectRow>;

/** The answer of `GET /runs/{runId}/effects`. */
export const EffectList = z
  .strictObject({ runId: z.string(), effects: z.array(EffectRow) })
  .meta({ id: "EffectList" });
/** See the schema of the same name. */
export type EffectList = z.infer<typeof EffectList>;
