import { createHash, timingSafeEqual } from "node:crypto";
import { parseApiKey, type Scope } from "@mainstay/contract";
import type { FoundKey } from "@mainstay/database";
import { Refusal } from "../server/refusal.js";
import type { Principal } from "./principal.js";

/** Compared when there is no such key, so that its absence takes as long as a wrong secret. */
const nobody = Buffer.alloc(32);

/**
 * Turns an `Authorization` header into a principal. Every request reads the key: a revocation holds for the next one.
 *
 * @throws Refusal `unauthenticated` (no key, wrong, expired), `credential_revoked`, or `forbidden` (scope missing).
 */
export async function authorise(
  header: string | undefined,
  scope: Scope,
  findKey: (keyId: string) => Promise<FoundKey>,
): Promise<Principal> {
  const [, presented] = /^Bearer +(\S+) *$/i.exec(header ?? "") ?? [];
  const key = presented === undefined ? undefined : parseApiKey(presented);
  if (key === undefined) throw new Refusal("unauthenticated", "expected Authorization: Bearer mst_<keyId>_<secret>");
  const found = await findKey(key.keyId);
  const digest = createHash("sha256").update(key.secret).digest();
  const matches = timingSafeEqual(digest, found.kind === "not_found" ? nobody : found.secretHash);
  if (!matches || found.kind === "not_found") throw new Refusal("unauthenticated", "no such key; make one with: mainstay key create");
  if (found.kind === "revoked") throw new Refusal("credential_revoked", "the key was revoked; make another with: mainstay key create");
  if (found.kind === "expired") throw new Refusal("unauthenticated", "the key has expired; make another with: mainstay key create");
  if (!found.scopes.includes(scope)) {
    throw new Refusal("forbidden", `the key lacks the scope ${scope}`, { details: { scope } });
  }
  return { keyId: found.keyId, workspace: found.workspace, scopes: new Set(found.scopes) };
}
