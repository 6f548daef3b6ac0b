/**
 * The part shared by every statement that takes a run from its holder, or ends one that nobody holds: `runs.hand_back`,
 * `runs.take_over`, `runs.suspect`, `runs.enforce_stops`, `runs.enforce_deadlines`.
 *
 * Expects the CTE `locked` (rows of runs, locked, newest version, with `kind`, `trigger`, `cohort`) and
 * `limits (crash_limit, loss_limit, handback_limit, base_ms, retention_days, endings)`.
 *
 * `kind`: `hand_back`, `mislaid`, `take_over`, `suspect`, `stop`, `deadline`. A stop that was asked for is honoured
 * first; a death past the limits buries the run; otherwise it waits for a claim, at once after its first loss,
 * isolated and after a back-off when it was lost again without a checkpoint (rule H15).
 */
export const releaseTail = `
charged as (
  select l.*, li.*,
    case l.kind
      when 'take_over' then l.cohort <= 1 or l.stale_losses + 1 > li.loss_limit
      when 'suspect' then l.stale_losses + 1 > li.loss_limit
      when 'mislaid' then l.stale_losses + 1 > li.loss_limit
      when 'hand_back' then l.stale_hand_backs + 1 > li.handback_limit
      else false
    end as crash,
    l.kind in ('take_over', 'suspect') as death
  from locked l, limits li
), judged as (
  select c.*,
    case
      when c.stop_requested = 'cancel' then 'cancelled'
      when c.kind = 'deadline' then 'failed'
      when c.stop_requested = 'pause' then 'paused'
      when c.crash and c.crashes + 1 >= c.crash_limit then 'failed'
      else 'running'
    end as outcome,
    case
      when c.open_effects > 0 and exists (select from effects e where e.run_id = c.id and e.state = 'launched'
        and e.class = 'non_idempotent_write') then 'unknown'
      when c.kind = 'deadline' then 'deadline'
      when c.kind = 'hand_back' then 'handback'
      else 'crash'
    end as ending,
    case when c.death and c.stale_deaths >= 1 then greatest(1, ceil(c.cohort / 8.0))::int else c.cohort_limit end as next_limit,
    case when c.death and c.stale_deaths >= 1
      then least(c.base_ms * 2 ^ least(c.crashes + c.crash::int, 30), 21600000)::bigint else 0 end as pause_ms
  from charged c
), told_of as (
  select j.*,
    case when j.owner is null then '[]'::jsonb else jsonb_build_array(jsonb_build_object('type', 'lease.lost', 'payload',
      jsonb_build_object('leaseId', j.fence::text, 'host', 'cloud', 'instanceId', j.owner, 'x-trigger', j.trigger))) end
    || case
      when j.kind = 'deadline' and j.outcome = 'failed' then jsonb_build_array(jsonb_build_object('type', 'cap.breached', 'payload',
        jsonb_build_object('kind', 'run-duration', 'limit', j.run_timeout_ms, 'observed',
          (extract(epoch from now() - j.created_at) * 1000)::bigint)))
      else '[]' end
    || case j.outcome
      when 'cancelled' then jsonb_build_array(jsonb_build_object('type', 'run.cancelled', 'payload',
        jsonb_strip_nulls(jsonb_build_object('reason', j.stop_reason, 'cancelledBy', j.stop_by))
          || jsonb_build_object('durationMs', (extract(epoch from now() - coalesce(j.started_at, now())) * 1000)::bigint)))
      when 'paused' then jsonb_build_array(jsonb_build_object('type', 'run.paused', 'payload',
        jsonb_strip_nulls(jsonb_build_object('reason', j.stop_reason, 'drainPolicy', j.stop_drain) || coalesce((
          select jsonb_build_object('interruptedNodeId', n.node_id, 'interruptedAttempt', n.attempts - 1) from run_nodes n
          where n.run_id = j.id and n.status = 'started' and n.fence = j.fence and j.owner is not null
          order by n.node_id limit 1), '{}'))))
      when 'failed' then jsonb_build_array(
        jsonb_build_object('type', 'run.dead-lettered', 'payload', jsonb_build_object('runId', j.workspace || '/' || j.id,
          'reason', j.endings->j.ending->>'reason', 'attempts', greatest(1, j.claims))),
        jsonb_build_object('type', 'run.failed', 'payload', jsonb_build_object('error', j.endings->j.ending->'error',
          'durationMs', (extract(epoch from now() - coalesce(j.started_at, now())) * 1000)::bigint)))
      else '[]' end as events
  from judged j
  -- whether an unsafe effect is open is read by the snapshot: where the locked row counts other effects, the next pass
  -- buries the run
  where j.outcome <> 'failed' or j.open_effects = (select s.open_effects from runs s where s.id = j.id)
), moved as (
  update runs r set
    owner = null, fence = r.fence + 1, status = j.outcome,
    -- a run that is paused is one that may be claimed, once it goes on
    paused_from = case when j.outcome = 'paused' then j.status end,
    stop_requested = case when j.stop_requested = 'cancel' then 'cancel' end,
    stop_drain = null, event_seq = r.event_seq + jsonb_array_length(j.events),
    crashes = r.crashes + j.crash::int,
    losses = r.losses + (j.kind in ('take_over', 'suspect', 'mislaid') and not j.crash)::int,
    hand_backs = r.hand_backs + (j.kind = 'hand_back' and not j.crash)::int,
    stale_losses = r.stale_losses + (j.kind in ('take_over', 'suspect', 'mislaid') and not j.crash)::int,
    stale_hand_backs = r.stale_hand_backs + (j.kind = 'hand_back')::int,
    stale_deaths = r.stale_deaths + j.death::int,
    suspicion_used = r.suspicion_used or j.kind = 'suspect',
    cohort_limit = j.next_limit,
    waiting_on = case when j.outcome not in ('running', 'paused') then null when j.next_limit is not null then 'capacity' else 'dispatch' end,
    waiting_reason = case when j.outcome in ('running', 'paused') and j.next_limit is not null then 'isolation' end,
    waiting_effect = null,
    due_at = now() + j.pause_ms * interval '1 millisecond', sweep_at = now() + j.pause_ms * interval '1 millisecond',
    lost_trigger = case when j.outcome in ('running', 'paused') and j.kind <> 'stop' then j.trigger end,
    lost_owner = case when j.outcome in ('running', 'paused') and j.kind <> 'stop' then j.owner end,
    lost_at = case when j.outcome in ('running', 'paused') then j.since else r.lost_at end,
    finished_at = case when j.outcome in ('cancelled', 'failed') then now() end,
    error = case when j.outcome = 'failed' then j.endings->j.ending->'error' end,
    open_effects = case when j.outcome = 'failed' and j.ending = 'unknown' then 0 else r.open_effects end
  from told_of j
  where r.id = j.id
  returning r.id, r.workspace, r.workflow_id, r.pool, r.status, r.due_at, j.due_at as former_due_at, j.owner as former_owner, j.kind, j.trigger, j.crash
), written as (
  insert into run_events (run_id, seq, workspace, type, fence, payload)
  select j.id, j.event_seq + e.ordinal::int - 1, j.workspace, e.event->>'type', j.fence, e.event->'payload'
  from told_of j join moved m on m.id = j.id
  cross join lateral jsonb_array_elements(j.events) with ordinality as e(event, ordinal)
), withdrawn as (
  -- the ticket of a timer that may lie years ahead; by the index on due_at; one written since the snapshot is not seen
  delete from outbox o using moved m
  where m.status in ('cancelled', 'failed') and m.former_due_at > now() and o.due_at = m.former_due_at and o.run_id = m.id
), announced as (
  insert into outbox (run_id, pool, due_at) select m.id, m.pool, m.due_at from moved m where m.status = 'running'
), buried as (
  insert into dead_letters (workspace, scope, run_id, workflow_id, spec_hash, failure, class, code, disposition,
    fingerprint, reason, attempts, chain_depth, handler, payload_ref, payload_digest, effect_ids, fencing_token,
    incarnation, lineage, first_failed_at, last_failed_at, expires_at, state, next_action)
  select j.workspace, 'run', j.id, j.workflow_id, j.spec_hash, x->'failure', x->>'class', x->>'code', x->>'disposition',
    x->>'fingerprint', x->>'reason', greatest(1, j.claims), j.chain_depth, j.workflow_id, 'run:' || j.id || '/input',
    j.input_digest, array(select e.id from effects e where e.run_id = j.id order by e.id), j.fence, j.owner, j.lineage,
    now(), now(), now() + j.retention_days * interval '1 day', x->>'state', x->>'nextAction'
  from told_of j join moved m on m.id = j.id cross join lateral (select j.endings->j.ending as x) of_it
  where j.outcome = 'failed'
  returning id, workspace, run_id, class, code, disposition, reason, attempts
), doubted as (
  update effects e set state = 'unknown'
  from told_of j join moved m on m.id = j.id
  where e.run_id = j.id and e.state = 'launched' and e.class <> 'read_only' and j.outcome = 'failed' and j.ending = 'unknown'
), told as (
  insert into ops_events (type, workspace, subject, data)
  select 'run.dead_lettered', b.workspace, b.run_id::text, jsonb_build_object('deadLetterId', b.id, 'scope', 'run',
    'class', b.class, 'code', b.code, 'disposition', b.disposition, 'reason', b.reason, 'attempts', b.attempts)
  from buried b
)`;

/** What a releasing statement answers: one row a run. */
export const releasedRows = `
select m.id, m.status, m.kind, m.trigger, m.crash, m.former_owner, m.workflow_id as "workflowId", b.class, b.disposition
from moved m left join buried b on b.run_id = m.id order by m.id`;

/** The limits every releasing statement needs. */
export type ReleaseLimits = { crashLimit: number; lossLimit: number; handBackLimit: number; backoffBaseMs: number; retentionDays: number };

/** The CTE `limits`; `from` is the number of its first parameter, six in all. */
export const limitsCte = (from: number): string => `limits as (
  select $${from}::int as crash_limit, $${from + 1}::int as loss_limit, $${from + 2}::int as handback_limit,
    $${from + 3}::bigint as base_ms, $${from + 4}::int as retention_days, $${from + 5}::jsonb as endings
)`;

/** A run that was taken from its holder, and what it became. */
export type Released = {
  id: string; status: string; kind: string; trigger: string; crash: boolean; former_owner: string | null; workflowId: string;
  /** Of its dead letter, when it was buried. */
  class: string | null; disposition: string | null;
};
