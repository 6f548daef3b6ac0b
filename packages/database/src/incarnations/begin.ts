import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** One process start. `id` is minted before the first try: a repeat after a lost reply begins nothing twice. */
export type NewIncarnation = {
  id: string;
  role: "api" | "relay" | "worker" | "supervisor";
  /** Worker pool; absent for the other roles. */
  pool?: string;
  host: string;
  version: string;
  slots?: number;
  leaseMs: number;
};

const begin = statement<{ lifeline: string }>("incarnations.begin", `
with input as (
  select $1::uuid as id, $2::text as role, $3::text as pool, $4::text as host, $5::text as version, $6::int as slots,
    $7::int as lease_ms
)
insert into incarnations as n (id, role, pool, host, version, slots, lease_ms)
select id, role, pool, host, version, slots, lease_ms from input
on conflict (id) do update set beat_at = now() where n.lapsed_at is null and n.ended_at is null
returning lifeline::text`);

/** Enters an incarnation, live from now for its lease. Answers the key of its lifeline; undefined: it has died already. */
export async function beginIncarnation(db: Queryable, born: NewIncarnation): Promise<string | undefined> {
  const [row] = await db.query(begin, [born.id, born.role, born.pool ?? null, born.host, born.version, born.slots ?? null, born.leaseMs]);
  return row?.lifeline;
}
