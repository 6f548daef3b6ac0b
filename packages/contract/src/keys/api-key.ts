import { z } from "zod";
import { KeyId } from "../ids/grammars.js";

/** The two halves of a presented API key. */
export type ApiKeyParts = Readonly<{ keyId: string; secret: string }>;

/** The printed form of an API key: `mst_<keyId>_<secret>`. Shown once, when the key is made. */
export function formatApiKey(parts: ApiKeyParts): string {
  return `mst_${parts.keyId}_${parts.secret}`;
}

/**
 * Splits a presented key. A key id is 8 to 64 letters and digits, so the first underscore after the prefix ends it.
 * @returns `undefined` when it is not of our form; says nothing about whether the key exists.
 */
export function parseApiKey(presented: string): ApiKeyParts | undefined {
  const match = /^mst_([A-Za-z0-9]{8,64})_([A-Za-z0-9_-]{22,128})$/.exec(presented);
  const [, keyId, secret] = match ?? [];
  if (keyId === undefined || secret === undefined) return undefined;
  return { keyId, secret };
}

/** A key as lists show it: never its secret, nor the digest of it. */
export const ApiKeySummary = z
  .strictObject({
    keyId: KeyId,
    workspace: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
    revokedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: "ApiKeySummary" });
/** See the schema of the same name. */
export type ApiKeySummary = z.infer<typeof ApiKeySummary>;
