import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

/** One process incarnation, with the age of its last heartbeat on the database's clock. */
export type InstanceRow = {
  id: string;
  role: "api" | "relay" | "worker" | "supervisor";
  pool: string | null;
  host: string;
  version: string;
  state: "live" | "draining" | "lapsed" | "ended";
  slots: number | null;
  startedAt: Date;
  beatAgeMs: number;
  leaseMs: number;
};

const instances = statement<InstanceRow>("reads.instances", `
select i.id, i.role, i.pool, i.host, i.version, i.slots, i.started_at as "startedAt", i.lease_ms as "leaseMs",
  greatest(0, round(extract(epoch from now() - i.beat_at) * 1000))::int8::float8 as "beatAgeMs",
  case when i.lapsed_at is not null then 'lapsed' when i.ended_at is not null then 'ended'
    when i.draining_at is not null then 'draining' else 'live' end as state
from incarnations i
where (i.lapsed_at is null and i.ended_at is null) or greatest(i.lapsed_at, i.ended_at) > now() - interval '1 hour'
order by (i.lapsed_at is not null or i.ended_at is not null), i.role, i.started_at desc
limit 1000`, { plan: "custom" });

/** The incarnations that live, then those that went within the last hour. */
export function readInstances(db: Queryable): Promise<InstanceRow[]> {
  return db.query(instances, []);
}
