import { z } from "zod";

const version = z.string().regex(/^(0|[1-9]\d*)\.(0|[1-9]\d*)$/);

const witness = z.enum([
  "witnessable-unaided", "witnessable-gated", "seam-gated", "claims-check", "negative-existence",
]);

/** A family record: presence is the claim. `until` is required unless the family is stable, and forbidden then. */
function family<Facets extends z.ZodRawShape>(facets: Facets) {
  return z
    .strictObject({
      status: z.enum(["stable", "experimental", "deprecated"]),
      since: version,
      until: version.optional(),
      witness,
      ...facets,
    })
    .refine(isDated, { error: "until is required unless the family is stable, and forbidden when it is" });
}

const Dated = z.object({ status: z.string(), until: z.string().optional() });

function isDated(record: unknown): boolean {
  const dated = Dated.safeParse(record);
  return dated.success && (dated.data.status === "stable") === (dated.data.until === undefined);
}

/** The closed root of `GET /.well-known/openwop`. A family that is absent is not served. */
export const Discovery = z
  .strictObject({
    protocolVersions: z.array(version).min(1),
    preferredVersion: version,
    minClientVersion: version.optional(),
    implementation: z.strictObject({ name: z.string(), version: z.string(), vendor: z.string() }).optional(),
    engineVersion: z.number().int().optional(),
    eventLogSchemaVersion: z.number().int().min(1).optional(),
    fixtures: z.array(z.string()).optional(),
    limits: family({
      clarificationRounds: z.number().int().min(0),
      schemaRounds: z.number().int().min(0),
      envelopesPerTurn: z.number().int().min(0),
      maxNodeExecutions: z.number().int().min(1),
      maxRunDurationMs: z.number().int().min(1).optional(),
    }).optional(),
    eventLog: family({
      crossEngineOrdering: z.strictObject({ orderingModel: z.literal("global-sequencer") }),
    }).optional(),
    idempotency: family({ crossRegion: z.literal("single-region") }).optional(),
    replay: family({
      modes: z.array(z.enum(["replay", "branch"])),
      retention: z.strictObject({ days: z.number().int().min(1) }),
      effectSeamsManifest: z.string(),
    }).optional(),
    deadLetter: family({ retentionDays: z.number().int().min(1) }).optional(),
    runList: family({ maxPageSize: z.number().int().min(1), filters: z.array(z.string()) }).optional(),
    auth: family({
      lanes: z.array(
        z.strictObject({
          lane: z.literal("api-key"),
          issuers: z.array(z.string()),
          revocation: z.literal("next-request"),
          minimumAssurance: z.literal("bearer"),
        }),
      ),
    }).optional(),
  })
  .meta({ id: "Discovery" });
/** See the schema of the same name. */
export type Discovery = z.infer<typeof Discovery>;
