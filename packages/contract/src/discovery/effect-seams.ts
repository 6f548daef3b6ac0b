import { z } from "zod";

/** One outbound path of node code, and what keeps it from acting twice. A kind of `other` needs a note. */
export const EffectSeam = z.strictObject({
  seam: z.string().min(1),
  kind: z.enum(["http", "smtp", "queue", "storage", "provider-sdk", "webhook-fanout", "other"]),
  guarded: z.literal(true),
  guardedBy: z.string().min(1),
  /** Whether a fork in mode `branch` fires it anew. */
  branchReFires: z.boolean().optional(),
  note: z.string().optional(),
});
/** See the schema of the same name. */
export type EffectSeam = z.infer<typeof EffectSeam>;

/** The answer of `GET /host/effect-seams`. */
export const EffectSeams = z
  .strictObject({
    manifestVersion: z.literal("1"),
    host: z.strictObject({
      name: z.string(),
      build: z.strictObject({ kind: z.enum(["image-digest", "commit", "artifact-sha256"]), id: z.string() }),
    }),
    seams: z.array(EffectSeam),
  })
  .meta({ id: "EffectSeams" });
/** See the schema of the same name. */
export type EffectSeams = z.infer<typeof EffectSeams>;
