import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

/** A key as lists show it: never the secret, nor its digest. */
export type KeyRow = {
  keyId: string;
  workspace: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
};

const list = statement<KeyRow>("keys.list", `
with input as (select $1::text as workspace)
select k.key_id as "keyId", k.workspace, k.name, k.scopes, k.created_at as "createdAt", k.expires_at as "expiresAt",
  k.revoked_at as "revokedAt"
from api_keys k, input i
where i.workspace is null or k.workspace = i.workspace
order by k.workspace, k.created_at, k.key_id
limit 1000`, { plan: "custom" });

/** The keys of one workspace, or of all: the first 1,000, revoked and expired ones included. */
export function listKeys(db: Queryable, filter: { workspace?: string }): Promise<KeyRow[]> {
  return db.query(list, [filter.workspace ?? null]);
}
