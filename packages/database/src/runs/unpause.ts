import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** What became of a request to go on. */
export type UnpauseAnswer =
  /** It waits for a claim, or for what it waited for before; its ticket is announced. */
  | { kind: "resumed"; resumedAt: Date }
  /** Its holder had not paused it yet: the request to pause is taken back and the holder goes on. */
  | { kind: "withdrawn"; resumedAt: Date }
  | { kind: "terminal" }
  /** It is not paused; `status` in the wire's words. */
  | { kind: "conflict"; status: string }
  | { kind: "not_found" };

const unpause = statement<{ verdict: UnpauseAnswer["kind"]; status: string; resumed_at: Date }>("runs.unpause", `
with input as (
  select $1::uuid as id, $2::text as workspace, $3::text as operation, $4::text as key,
    decode($5::text, 'hex') as body_digest, $6::jsonb as answer
), locked as (
  select r.* from input i join runs r on r.id = i.id and r.workspace = i.workspace for no key update of r
), moved as (
  update runs r set
    owner = l.owner, -- of the locked row, as the status: a constraint is checked before a newer version is read
    status = case when l.status = 'paused' then l.paused_from else l.status end,
    waiting_on = case when l.status = 'paused' then coalesce(l.waiting_on, 'dispatch') else l.waiting_on end,
    lost_at = case when l.lost_trigger is null then l.lost_at else now() end, -- its loss is made good from here on
    paused_from = null, stop_requested = null, stop_drain = null, stop_reason = null, stop_by = null, stop_at = null,
    fence = r.fence + (l.status = 'paused')::int, event_seq = r.event_seq + (l.status = 'paused')::int
  from locked l
  where r.id = l.id
    and (l.status = 'paused' or (l.stop_requested = 'pause' and l.status not in ('completed', 'failed', 'cancelled')))
  returning r.id, r.workspace, r.pool, r.due_at, r.fence, l.event_seq as seq, l.status as former
), written as (
  insert into run_events (run_id, seq, workspace, type, fence, payload)
  select m.id, m.seq, m.workspace, 'run.resumed', m.fence, '{}' from moved m where m.former = 'paused'
), announced as (
  insert into outbox (run_id, pool, due_at) select m.id, m.pool, m.due_at from moved m where m.former = 'paused'
), recorded as (
  insert into idempotency_records (workspace, operation, key, body_digest, run_id, status, body)
  select i.workspace, i.operation, i.key, i.body_digest, m.id, 202, i.answer
    || jsonb_build_object('resumedAt', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from moved m, input i where i.key is not null
  on conflict do nothing
)
select case
    when m.former = 'paused' then 'resumed'
    when m.id is not null then 'withdrawn'
    when l.status in ('completed', 'failed', 'cancelled') then 'terminal'
    when l.id is not null then 'conflict'
    else 'not_found' end as verdict,
  case l.stop_requested when 'cancel' then 'cancelling' else l.status end as status, now() as resumed_at
from input i left join locked l on l.id = i.id left join moved m on m.id = i.id`);

/**
 * An operator's resume. A paused run goes back to what it was, under a higher fence; timers and retries keep the due
 * time they had. A pause that its holder has not honoured yet is withdrawn, and the log tells of neither.
 *
 * With a key, the answer is recorded in the same statement. Waits for the row lock, at most the statement time-out.
 */
export async function unpauseRun(
  db: Queryable,
  asked: { runId: string; workspace: string; idempotency?: { operation: string; key: string; bodyDigest: string; answer: Record<string, unknown> } },
): Promise<UnpauseAnswer> {
  const record = asked.idempotency;
  const [row] = await db.query(unpause, [
    asked.runId, asked.workspace, record?.operation ?? null, record?.key ?? null, record?.bodyDigest ?? null,
    record ? JSON.stringify(record.answer) : null,
  ]);
  if (row === undefined) return { kind: "not_found" };
  if (row.verdict === "resumed" || row.verdict === "withdrawn") return { kind: row.verdict, resumedAt: row.resumed_at };
  return row.verdict === "conflict" ? { kind: "conflict", status: row.status } : { kind: row.verdict };
}
