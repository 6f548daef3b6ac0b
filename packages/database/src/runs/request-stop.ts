import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** What became of a request to cancel. */
export type StopAnswer =
  | { kind: "ended" }      // nobody held it: it is `cancelled` now
  | { kind: "asked" }      // its holder will end it, or the lane after the grace
  | { kind: "terminal" }   // it had ended before
  | { kind: "not_found" };

const askToStop = statement<{ verdict: StopAnswer["kind"] }>("runs.request_stop", `
with input as (
  select $1::uuid as id, $2::text as workspace, $3::text as reason, $4::text as asked_by, $5::text as operation,
    $6::text as key, decode($7::text, 'hex') as body_digest, $8::jsonb as answers
), locked as (
  select r.* from input i join runs r on r.id = i.id and r.workspace = i.workspace for no key update of r
), moved as (
  update runs r set
    -- the first cancel is told, and a pause that was asked for before it is overtaken
    stop_requested = 'cancel', stop_drain = null, paused_from = null,
    stop_reason = case when l.stop_requested = 'cancel' then coalesce(l.stop_reason, i.reason) else i.reason end,
    stop_by = case when l.stop_requested = 'cancel' then coalesce(l.stop_by, i.asked_by) else i.asked_by end,
    stop_at = case when l.stop_requested = 'cancel' then coalesce(l.stop_at, now()) else now() end,
    owner = l.owner, -- of the locked row, as the status: a constraint is checked before a newer version is read
    status = case when l.owner is null then 'cancelled' else l.status end,
    finished_at = case when l.owner is null then now() end,
    fence = r.fence + (l.owner is null)::int,
    waiting_on = case when l.owner is null then null else l.waiting_on end,
    waiting_reason = case when l.owner is null then null else l.waiting_reason end,
    waiting_effect = null,
    event_seq = r.event_seq + (l.owner is null)::int
  from locked l, input i
  where r.id = l.id and l.status not in ('completed', 'failed', 'cancelled')
  returning r.id, r.workspace, r.status, r.fence, r.stop_reason, r.stop_by, l.event_seq as seq, l.started_at, l.due_at as former_due_at
), written as (
  insert into run_events (run_id, seq, workspace, type, fence, payload)
  select m.id, m.seq, m.workspace, 'run.cancelled', m.fence,
    jsonb_strip_nulls(jsonb_build_object('reason', m.stop_reason, 'cancelledBy', m.stop_by))
      || jsonb_build_object('durationMs', (extract(epoch from now() - coalesce(m.started_at, now())) * 1000)::bigint)
  from moved m where m.status = 'cancelled'
), withdrawn as (
  -- the ticket of a timer that may lie years ahead; by the index on due_at
  delete from outbox o using moved m
  where m.status = 'cancelled' and m.former_due_at > now() and o.due_at = m.former_due_at and o.run_id = m.id
), recorded as (
  insert into idempotency_records (workspace, operation, key, body_digest, run_id, status, body)
  select i.workspace, i.operation, i.key, i.body_digest, m.id, 200,
    i.answers->case when m.status = 'cancelled' then 'ended' else 'asked' end
  from moved m, input i where i.key is not null
  on conflict do nothing
)
select case
  when m.status = 'cancelled' then 'ended'
  when m.id is not null then 'asked'
  when l.id is not null then 'terminal'
  else 'not_found' end as verdict
from input i left join locked l on l.id = i.id left join moved m on m.id = i.id`);

/**
 * Asks a run to be cancelled. Held by nobody, it ends in this statement; held, its holder ends it at its next
 * checkpoint or audit, or the lane takes the fence after the grace. Asking twice is the same as asking once.
 *
 * With a key, the answer is recorded in the same statement: `answers` holds the two bodies. Waits for the row lock,
 * at most the statement time-out.
 */
export async function requestStop(
  db: Queryable,
  stop: {
    runId: string; workspace: string; reason?: string; by: string;
    idempotency?: { operation: string; key: string; bodyDigest: string; answers: { ended: Record<string, unknown>; asked: Record<string, unknown> } };
  },
): Promise<StopAnswer> {
  const record = stop.idempotency;
  const [row] = await db.query(askToStop, [
    stop.runId, stop.workspace, stop.reason ?? null, stop.by, record?.operation ?? null, record?.key ?? null,
    record?.bodyDigest ?? null, record ? JSON.stringify(record.answers) : null,
  ]);
  return { kind: row?.verdict ?? "not_found" };
}
