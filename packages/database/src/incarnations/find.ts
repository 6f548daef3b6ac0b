import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** What is known of one incarnation's life; times in milliseconds of the database's clock, bigint as text. */
export type IncarnationFacts = {
  id: string;
  role: string;
  lifeline: string;
  beatNo: string;
  beatAgeMs: number;
  leaseMs: number;
  draining: boolean;
  lapsed: boolean;
  ended: boolean;
  /** Before the lapse: what a lapse would be put down to, when the thread has said so. */
  trigger: "heartbeat_expired" | "loop_wedged" | null;
  heldAtLapse: number | null;
  holds: number;
};

const find = statement<IncarnationFacts>("incarnations.find", `
select n.id, n.role, n.lifeline::text, n.beat_no::text as "beatNo", n.lease_ms as "leaseMs",
  (extract(epoch from now() - n.beat_at) * 1000)::float8 as "beatAgeMs", n.draining_at is not null as draining,
  n.lapsed_at is not null as lapsed, n.ended_at is not null as ended, n.lapsed_trigger as trigger,
  n.held_at_lapse as "heldAtLapse", (select count(*)::int from runs r where r.owner = n.id) as holds
from incarnations n where n.id = $1::uuid`);

/** The last heartbeat of an incarnation and how it ended; undefined: unknown, or long gone. */
export async function findIncarnation(db: Queryable, id: string): Promise<IncarnationFacts | undefined> {
  return (await db.query(find, [id]))[0];
}
