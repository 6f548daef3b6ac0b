import { z } from "zod";

/** What an API key may do: the protocol's scopes first, then those of the operations surface. */
export const Scope = z
  .enum([
    "runs:create",
    "runs:read",
    "runs:cancel",
    "artifacts:read",
    "webhooks:manage",
    "approvals:respond",
    "audit:read",
    "manifest:read",
    "dlq:read",
    "dlq:operate",
    "dlq:decide",
    "ops:read",
    "ops:admin",
  ])
  .meta({ id: "Scope" });
/** See the schema of the same name. */
export type Scope = z.infer<typeof Scope>;

/** All scopes, in the order of the schema. */
export const scopes: readonly Scope[] = Scope.options;
