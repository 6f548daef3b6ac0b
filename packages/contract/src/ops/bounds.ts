import { z } from "zod";

/** Recovery bounds: one row per recovery class, `bound` being the sum of its terms, all in milliseconds. */
export const RecoveryBound = z
  .strictObject({
    class: z.string(),
    bound: z.number().int().min(0),
    terms: z.array(z.strictObject({ name: z.string(), ms: z.number().int().min(0) })).min(1).max(16),
  })
  .meta({ id: "RecoveryBound" });
/** See the schema of the same name. */
export type RecoveryBound = z.infer<typeof RecoveryBound>;

/** The answer of `GET /ops/v1/bounds`; the attempt bound is the most executions a poison run can cause. */
export const BoundsResponse = z
  .strictObject({
    recovery: z.array(RecoveryBound),
    attempts: z.strictObject({
      bound: z.number().int().min(1),
      terms: z.array(z.strictObject({ name: z.string(), count: z.number().int().min(0) })),
    }),
  })
  .meta({ id: "BoundsResponse" });
/** See the schema of the same name. */
export type BoundsResponse = z.infer<typeof BoundsResponse>;
