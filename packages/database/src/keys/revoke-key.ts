import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

const revoke = statement<{ revoked_at: Date }>("keys.revoke", `
update api_keys set revoked_at = coalesce(revoked_at, now()) where key_id = $1::text returning revoked_at`);

/** What became of a revocation. A key that was revoked before keeps its first instant. */
export type Revoked = { kind: "revoked"; revokedAt: Date } | { kind: "not_found" };

/** Revokes a key. From the commit on every api refuses the next request that bears it. */
export async function revokeKey(db: Queryable, keyId: string): Promise<Revoked> {
  const [row] = await db.query(revoke, [keyId]);
  return row === undefined ? { kind: "not_found" } : { kind: "revoked", revokedAt: row.revoked_at };
}
