import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** What became of a request to cancel. */
export type StopAnswer =
  | { kind: "ended"; workflowId: string } // nobody held it: it is `cancelled` now
  | { kind: "asked" }      // its holder will end it, or the lane after the grace
  | { kind: "terminal" }   // it had ended before
  | { kind: "not_found" };

const askToStop = statement<{ ordinal: number; verdict: StopAnswer["kind"]; workflowId: string | null; recorded: boolean }>("runs.request_stop", `
with input as (
  select t.id, t.ordinal::int, $2::text as workspace, $3::text as reason, $4::text as asked_by, $5::text as operation,
    $6::text as key, decode($7::text, 'hex') as body_digest, ($8::jsonb)->(t.ordinal::int - 1) as answers, $9::text as gathered_as
  from unnest($1::uuid[]) with ordinality as t(id, ordinal)
), named as (
  select distinct i.id, i.workspace, i.reason, i.asked_by from input i where i.id is not null order by i.id
), locked as (
  -- by key, in one order: two that stop many wait for one another, and never both
  select r.*, n.reason as told_reason, n.asked_by as told_by
  from named n cross join lateral (select r.* from runs r where r.id = n.id and r.workspace = n.workspace for no key update of r) r
), moved as (
  update runs r set
    -- the first cancel is told, and a pause that was asked for before it is overtaken
    stop_requested = 'cancel', stop_drain = null, paused_from = null,
    stop_reason = case when l.stop_requested = 'cancel' then coalesce(l.stop_reason, l.told_reason) else l.told_reason end,
    stop_by = case when l.stop_requested = 'cancel' then coalesce(l.stop_by, l.told_by) else l.told_by end,
    stop_at = case when l.stop_requested = 'cancel' then coalesce(l.stop_at, now()) else now() end,
    owner = l.owner, -- of the locked row, as the status: a constraint is checked before a newer version is read
    status = case when l.owner is null then 'cancelled' else l.status end,
    finished_at = case when l.owner is null then now() end,
    fence = r.fence + (l.owner is null)::int,
    waiting_on = case when l.owner is null then null else l.waiting_on end,
    waiting_reason = case when l.owner is null then null else l.waiting_reason end,
    waiting_effect = null,
    event_seq = r.event_seq + (l.owner is null)::int
  from locked l
  where r.id = l.id and l.status not in ('completed', 'failed', 'cancelled')
  returning r.id, r.workspace, r.workflow_id, r.status, r.fence, r.stop_reason, r.stop_by, l.event_seq as seq, l.started_at, l.due_at as former_due_at
), written as (
  insert into run_events (run_id, seq, workspace, type, fence, payload)
  select m.id, m.seq, m.workspace, 'run.cancelled', m.fence,
    jsonb_strip_nulls(jsonb_build_object('reason', m.stop_reason, 'cancelledBy', m.stop_by))
      || jsonb_build_object('durationMs', (extract(epoch from now() - coalesce(m.started_at, now())) * 1000)::bigint)
  from moved m where m.status = 'cancelled'
), withdrawn as (
  -- the ticket of a timer that may lie years ahead; by the index on due_at. One that was written since this statement's
  -- snapshot is not seen: it stays until it is due or the run is purged, and rings for nobody
  delete from outbox o using moved m
  where m.status = 'cancelled' and m.former_due_at > now() and o.due_at = m.former_due_at and o.run_id = m.id
), judged as (
  select i.*, case
    when m.status = 'cancelled' then 'ended'
    when m.id is not null then 'asked'
    when l.id is not null then 'terminal'
    else 'not_found' end as verdict, m.workflow_id
  from input i left join locked l on l.id = i.id left join moved m on m.id = i.id
), answered as (
  -- the answer to one that moved nothing is no success and not kept here; the answer to many is kept whole
  select j.workspace, j.operation, j.key, j.body_digest, j.id, j.answers->j.verdict as body
  from judged j where j.gathered_as is null and j.answers ? j.verdict
  union all
  select j.workspace, j.operation, j.key, j.body_digest, null,
    jsonb_build_object(j.gathered_as, jsonb_agg(coalesce(j.answers->j.verdict, j.answers->'refused') order by j.ordinal))
  from judged j where j.gathered_as is not null
  group by j.workspace, j.operation, j.key, j.body_digest, j.gathered_as
), recorded as (
  insert into idempotency_records (workspace, operation, key, body_digest, run_id, status, body, expires_at)
  select a.workspace, a.operation, a.key, a.body_digest, a.id, 200, a.body, case when a.id is null then now() + interval '24 hours' end
  from answered a where a.key is not null
  on conflict do nothing
  returning 1
)
select j.ordinal, j.verdict, j.workflow_id as "workflowId", exists (select from recorded) as recorded from judged j order by j.ordinal`);

/** A request to stop runs of a workspace. Under a key the answer is recorded in the same statement. */
type Stop = { workspace: string; reason?: string; by: string };
type Key = { operation: string; key: string; bodyDigest: string };

/**
 * Asks a run to be cancelled. Held by nobody, it ends in this statement; held, its holder ends it at its next
 * checkpoint or audit, or the lane takes the fence after the grace. Asking twice is the same as asking once.
 *
 * With a key, the answer is recorded in the same statement: `answers` holds the two bodies. Waits for the row lock,
 * at most the statement time-out.
 */
export async function requestStop(
  db: Queryable, stop: Stop & { runId: string; idempotency?: Key & { answers: { ended: Record<string, unknown>; asked: Record<string, unknown> } } },
): Promise<StopAnswer> {
  const [row] = await askAll(db, stop, { ids: [stop.runId], key: stop.idempotency, answers: [stop.idempotency?.answers ?? {}] });
  return toAnswer(row);
}

/** One of many runs to stop: its id, or none where the request was refused before, and what is answered to each verdict. */
export type StopItem = { runId: string | undefined; answers: Partial<Record<StopAnswer["kind"] | "refused", Record<string, unknown>>> };

/**
 * Asks many runs to be cancelled, in one statement: each as `requestStop` does, all or none of them. With a key the whole
 * answer, `{ results: [...] }` in the order of `items`, is recorded in the same statement; `recorded` false: an equal
 * request was recorded before, and its answer holds.
 */
export async function requestStops(
  db: Queryable, stop: Stop & { items: readonly StopItem[]; idempotency?: Key },
): Promise<{ stops: (StopAnswer | { kind: "refused" })[]; recorded: boolean }> {
  const rows = await askAll(db, stop, { ids: stop.items.map(({ runId }) => runId ?? null), key: stop.idempotency, answers: stop.items.map(({ answers }) => answers), gatheredAs: "results" });
  return { stops: stop.items.map(({ runId }, index) => (runId === undefined ? { kind: "refused" } : toAnswer(rows[index]))), recorded: rows[0]?.recorded ?? false };
}

const toAnswer = (row: { verdict: StopAnswer["kind"]; workflowId: string | null } | undefined): StopAnswer =>
  (row?.verdict === "ended" ? { kind: "ended", workflowId: row.workflowId ?? "" } : { kind: row?.verdict ?? "not_found" });

function askAll(
  db: Queryable, { workspace, reason, by }: Stop,
  { ids, key, answers, gatheredAs }: { ids: readonly (string | null)[]; key: Key | undefined; answers: readonly unknown[]; gatheredAs?: string },
) {
  return db.query(askToStop, [
    ids, workspace, reason ?? null, by, key?.operation ?? null, key?.key ?? null, key?.bodyDigest ?? null, JSON.stringify(answers), gatheredAs ?? null,
  ]);
}
