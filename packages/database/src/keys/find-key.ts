import { createGroupCommit, type GroupCommit } from "../batch/create-group-commit.js";
import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

/** What the database says of a key id at the instant of the read; expiry is judged on its clock. */
export type FoundKey =
  | { kind: "live"; keyId: string; workspace: string; secretHash: Buffer; scopes: readonly string[] }
  | { kind: "revoked"; secretHash: Buffer }
  | { kind: "expired"; secretHash: Buffer }
  | { kind: "not_found" };

type Row = {
  asked: string; workspace: string | null; secret_hash: Buffer | null; scopes: string[] | null; revoked: boolean;
  expired: boolean;
};

const find = statement<Row>("keys.find", `
with input as (select unnest($1::text[]) as key_id)
select i.key_id as asked, k.workspace, k.secret_hash, k.scopes, k.revoked_at is not null as revoked,
  coalesce(k.expires_at <= now(), false) as expired
from input i left join api_keys k on k.key_id = i.key_id`);

/**
 * Looks keys up, all that are asked for while one read is under way in the next one. Nothing is cached: a read that
 * began after a revocation committed sees it, and no caller is given a read that began before it asked.
 */
export function createFindKey(
  db: Queryable,
  options: { giveUpMs: number; onFlush?: (op: string, rows: number) => void },
): GroupCommit<string, FoundKey> {
  return createGroupCommit<string, string, FoundKey>({
    op: "key",
    keyOf: (keyId) => keyId,
    merge: ([keyId]) => keyId,
    giveUpMs: options.giveUpMs,
    ...(options.onFlush === undefined ? {} : { onFlush: options.onFlush }),
    flush: async (keyIds) => {
      const rows = await db.query(find, [keyIds]);
      const byId = new Map(rows.map((row) => [row.asked, toFound(row)]));
      return keyIds.map((keyId) => byId.get(keyId) ?? { kind: "not_found" });
    },
  });
}

function toFound(row: Row): FoundKey {
  const { workspace, secret_hash: secretHash } = row;
  if (workspace === null || secretHash === null) return { kind: "not_found" };
  if (row.revoked) return { kind: "revoked", secretHash };
  if (row.expired) return { kind: "expired", secretHash };
  return { kind: "live", keyId: row.asked, workspace, secretHash, scopes: row.scopes ?? [] };
}
