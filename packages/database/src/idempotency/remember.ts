import type { Queryable } from "../database.js";
import { statement } from "../statement.js";
import type { IdempotencyRow } from "./read.js";

const remember = statement<IdempotencyRow & { fresh: boolean }>("idempotency.remember", `
insert into idempotency_records as c (workspace, operation, key, body_digest, status, body, expires_at)
values ($1::text, $2::text, $3::text, decode($4::text, 'hex'), $5::int, $6::jsonb, now() + interval '24 hours')
on conflict (workspace, operation, key) do update set key = c.key -- the newest version, whatever the snapshot shows
returning xmax = 0 as fresh, c.body_digest = decode($4::text, 'hex') as "sameBody", c.status, c.body`);

/**
 * Keeps a definite refusal under its key for 24 hours. Answers the record that stood there before, if one did: that is
 * then the request's answer, and nothing was changed.
 */
export async function rememberAnswer(
  db: Queryable,
  answer: { workspace: string; operation: string; key: string; bodyDigest: string; status: number; body: Record<string, unknown> },
): Promise<IdempotencyRow | undefined> {
  const [row] = await db.query(remember, [answer.workspace, answer.operation, answer.key, answer.bodyDigest, answer.status, JSON.stringify(answer.body)]);
  return row === undefined || row.fresh ? undefined : { sameBody: row.sameBody, status: row.status, body: row.body };
}
