import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

/** An answered request, as recorded under its key. */
export type IdempotencyRow = { sameBody: boolean; status: number; body: Record<string, unknown> };

const record = statement<IdempotencyRow>("reads.idempotency", `
select c.body_digest = decode($4::text, 'hex') as "sameBody", c.status, c.body
from idempotency_records c
where c.workspace = $1::text and c.operation = $2::text and c.key = $3::text`);

/** The record of a key, compared with the digest of the body at hand; `undefined` when the key is new. */
export async function readIdempotency(
  db: Queryable,
  asked: { workspace: string; operation: string; key: string; bodyDigest: string },
): Promise<IdempotencyRow | undefined> {
  const [row] = await db.query(record, [asked.workspace, asked.operation, asked.key, asked.bodyDigest]);
  return row;
}
