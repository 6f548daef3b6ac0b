import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const expired = statement<{ n: number }>("retention.delete_expired_records", `
with due as (
  select i.workspace, i.operation, i.key from idempotency_records i
  where i.expires_at <= now()
  order by i.expires_at limit $1::int
  for update of i skip locked
), gone as (
  delete from idempotency_records i using due d
  where i.workspace = d.workspace and i.operation = d.operation and i.key = d.key returning 1
)
select count(*)::int as n from gone`, { plan: "custom" });

/** Removes idempotency records whose time is over, the oldest first. Fewer than `limit`: none is left. */
export async function deleteExpiredRecords(db: Queryable, limit = 1_000): Promise<number> {
  return (await db.query(expired, [limit]))[0]?.n ?? 0;
}
