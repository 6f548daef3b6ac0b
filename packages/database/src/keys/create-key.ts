import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

/** A key to be stored. The secret itself never comes here, only its SHA-256. */
export type NewKey = {
  /** 8 to 64 letters and digits. */
  keyId: string;
  workspace: string;
  /** For people. */
  name: string;
  /** SHA-256 of the secret, hex. */
  secretHash: string;
  scopes: readonly string[];
  /** Milliseconds from now; `undefined` never expires. */
  expiresInMs?: number;
};

const create = statement<{ created_at: Date; expires_at: Date | null }>("keys.create", `
with input as (
  select $1::text as key_id, $2::text as workspace, $3::text as name, $4::text as secret_hash, $5::text[] as scopes,
    $6::bigint as expires_in_ms
), owned as (
  insert into workspaces (slug) select workspace from input on conflict do nothing
)
insert into api_keys (key_id, workspace, name, secret_hash, scopes, expires_at)
select key_id, workspace, name, decode(secret_hash, 'hex'), scopes, now() + expires_in_ms * interval '1 millisecond'
from input
returning created_at, expires_at`);

/**
 * Stores a key, and its workspace when that is new. Throws on a key id that exists (ids are random: a bug) and on a
 * workspace outside the grammar.
 */
export async function createKey(db: Queryable, key: NewKey): Promise<{ createdAt: Date; expiresAt: Date | undefined }> {
  const [row] = await db.query(create, [
    key.keyId, key.workspace, key.name, key.secretHash, key.scopes, key.expiresInMs ?? null,
  ]);
  if (row === undefined) throw new Error("keys.create answered no row");
  return { createdAt: row.created_at, expiresAt: row.expires_at ?? undefined };
}
