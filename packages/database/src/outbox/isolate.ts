import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** A row that was taken out of the way. `tries`: how often it was taken; `reason`: what the broker said last. */
export type IsolatedRow = { runId: string; pool: string; tries: number; reason: string };

const isolate = statement<{ run_id: string; pool: string; tries: number; reason: string }>("outbox.isolate", `
with input as (
  select $1::uuid as taken_by, $2::int as most_tries, left($4::text, 200) as reason
), gone as (
  delete from outbox o using input i
  where o.seq = any($3::bigint[]) and o.taken_by = i.taken_by and o.tries >= i.most_tries
  returning o.run_id, o.pool, o.tries, i.reason
), kept as (
  insert into message_dead_letters (pool, reason, named_run, body, seen_by)
  select g.pool, 'unpublishable', g.run_id::text, g.reason, i.taken_by from gone g, input i
  returning id, pool, named_run, body
), told as (
  insert into ops_events (type, subject, data)
  select 'message_dead_letter.opened', k.named_run,
    jsonb_build_object('messageDeadLetterId', k.id, 'pool', k.pool, 'reason', 'unpublishable', 'message', k.body)
  from kept k
)
select g.run_id, g.pool, g.tries, g.reason from gone g`);

/**
 * Takes rows that the broker refused by themselves, tried `mostTries` times or more, out of the outbox and keeps each as a dead message with its
 * reason, told on the operations stream. Rows that another relay has taken meanwhile, or that were tried less often,
 * stay. The run itself loses only a hint: a worker's sweep finds it.
 */
export async function isolateOutbox(
  db: Queryable, { seqs, relay, mostTries, reason: said }: { seqs: readonly string[]; relay: string; mostTries: number; reason: string },
): Promise<IsolatedRow[]> {
  const rows = await db.query(isolate, [relay, mostTries, seqs, said]);
  return rows.map(({ run_id: runId, pool, tries, reason }) => ({ runId, pool, tries, reason }));
}
