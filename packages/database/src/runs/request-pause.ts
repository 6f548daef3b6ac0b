import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** How a pause treats the nodes under way: they are cut, or they finish and nothing new starts. */
export type DrainPolicy = "immediate" | "drain-current-node";

/** What became of a request to pause. */
export type PauseAnswer =
  /** Nobody held it: it is `paused` now. */
  | { kind: "paused"; pausedAt: Date }
  /** Its holder makes it `paused` at its next checkpoint or audit; an immediate one falls to the lane after the grace. */
  | { kind: "asked" }
  | { kind: "terminal" }
  /** It is paused already, or a cancel came first; `status` in the wire's words. */
  | { kind: "conflict"; status: string }
  | { kind: "not_found" };

const askToPause = statement<{ verdict: PauseAnswer["kind"]; status: string; paused_at: Date | null }>("runs.request_pause", `
with input as (
  select $1::uuid as id, $2::text as workspace, $3::text as reason, $4::text as asked_by, $5::text as drain,
    $6::text as operation, $7::text as key, decode($8::text, 'hex') as body_digest, $9::jsonb as answer
), locked as (
  select r.* from input i join runs r on r.id = i.id and r.workspace = i.workspace for no key update of r
), moved as (
  update runs r set
    owner = l.owner, -- of the locked row, as the status: a constraint is checked before a newer version is read
    status = case when l.owner is null then 'paused' else l.status end,
    paused_from = case when l.owner is null then l.status end,
    fence = r.fence + (l.owner is null)::int,
    event_seq = r.event_seq + (l.owner is null)::int,
    -- held, it is asked; unheld, it is done and nothing of the request stays
    stop_requested = case when l.owner is not null then 'pause' end,
    stop_drain = case when l.owner is not null then i.drain end,
    stop_reason = case when l.owner is not null then i.reason end,
    stop_by = case when l.owner is not null then i.asked_by end,
    stop_at = case when l.owner is not null then now() end
  from locked l, input i
  where r.id = l.id and l.status in ('pending', 'running', 'waiting-external', 'waiting-approval', 'waiting-input')
    and l.stop_requested is null
  returning r.id, r.workspace, r.status, r.fence, l.event_seq as seq
), written as (
  insert into run_events (run_id, seq, workspace, type, fence, payload)
  select m.id, m.seq, m.workspace, 'run.paused', m.fence,
    jsonb_strip_nulls(jsonb_build_object('reason', i.reason, 'drainPolicy', i.drain))
  from moved m, input i where m.status = 'paused'
), recorded as (
  insert into idempotency_records (workspace, operation, key, body_digest, run_id, status, body)
  select i.workspace, i.operation, i.key, i.body_digest, m.id, 202, i.answer || case when m.status = 'paused'
    then jsonb_build_object('pausedAt', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) else '{}' end
  from moved m, input i where i.key is not null
  on conflict do nothing
)
select case
    when m.status = 'paused' then 'paused'
    when m.id is not null then 'asked'
    when l.status in ('completed', 'failed', 'cancelled') then 'terminal'
    when l.id is not null then 'conflict'
    else 'not_found' end as verdict,
  case l.stop_requested when 'cancel' then 'cancelling' when 'pause' then 'paused' else l.status end as status,
  case when m.status = 'paused' then now() end as paused_at
from input i left join locked l on l.id = i.id left join moved m on m.id = i.id`);

/**
 * Asks a run to be paused. Held by nobody it is paused in this statement, and what it waits for keeps its due time; held,
 * its holder drains or cuts what is under way and pauses it with the checkpoint. Its deadline counts on.
 *
 * A run that is paused or asked to stop already is a conflict. With a key, the answer is recorded in the same statement.
 * Waits for the row lock, at most the statement time-out.
 */
export async function requestPause(
  db: Queryable,
  pause: {
    runId: string; workspace: string; reason?: string; by: string; drain: DrainPolicy;
    idempotency?: { operation: string; key: string; bodyDigest: string; answer: Record<string, unknown> };
  },
): Promise<PauseAnswer> {
  const record = pause.idempotency;
  const [row] = await db.query(askToPause, [
    pause.runId, pause.workspace, pause.reason ?? null, pause.by, pause.drain, record?.operation ?? null, record?.key ?? null,
    record?.bodyDigest ?? null, record ? JSON.stringify(record.answer) : null,
  ]);
  if (row === undefined) return { kind: "not_found" };
  if (row.verdict === "paused") return { kind: "paused", pausedAt: row.paused_at ?? new Date() };
  return row.verdict === "conflict" ? { kind: "conflict", status: row.status } : { kind: row.verdict };
}
