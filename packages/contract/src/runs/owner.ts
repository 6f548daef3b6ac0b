import { z } from "zod";

/** Who a run belongs to. `tenant` is our workspace; the subject is the API key that made the run. */
export const Owner = z
  .strictObject({
    tenant: z.string(),
    subject: z.strictObject({
      issuer: z.string(),
      subjectId: z.string(),
      tenant: z.string(),
      lane: z.enum([
        "api-key", "oauth2", "oidc", "mtls", "saml", "scim", "ldap", "workload", "session", "anonymous",
      ]),
      kind: z.enum(["user", "agent", "anonymous", "workload"]),
      keyClass: z.string().optional(),
      actor: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .meta({ id: "Owner" });
/** See the schema of the same name. */
export type Owner = z.infer<typeof Owner>;
