import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { busy, createGroupCommit, type BatcherOptions, type GroupCommit } from "../batch/create-group-commit.js";

/** One event of the run's log; its sequence is given by the statement. */
export type NewEvent = { type: string; nodeId?: string; payload: Record<string, unknown> };

/** The whole state of one node after this write; the holder's memory is authoritative under its fence. */
export type NodeWrite = {
  node: string;
  status: "started" | "suspended" | "retry" | "completed" | "failed" | "skipped" | "cancelled";
  attempts: number;
  failures: number;
  asks: number;
  /** Milliseconds from the database's now; absent: none. */
  dueMs?: number;
  /** The effect whose settlement makes the node due before that. */
  effectId?: string;
  output?: unknown;
  error?: unknown;
  /** Appended to the node's history. */
  history?: Record<string, unknown>;
};

/** The decision-ready record of a failure the engine gave up on; facts that the statement knows itself are left out. */
export type NewDeadLetter = {
  scope: "run" | "node";
  nodeId?: string;
  failure: Record<string, unknown>;
  class: string;
  code: string;
  disposition: string;
  fingerprint: string;
  reason: string;
  attempts: number;
  /** The attempt that failed last; the earlier ones stand on the node. The statement adds the time. */
  lastAttempt: Record<string, unknown>;
  handler?: string;
  /** Effects beside those that the run launched itself: another run's, by a business key that both share. */
  effectIds?: readonly string[];
  state: string;
  nextAction: string;
  retentionDays: number;
};

/** One holder's write of one run: nodes, events and at most one move, merged from all that ended in the same flush. */
export type ProgressWrite = {
  runId: string;
  owner: string;
  fence: string;
  /** Minted once for the merged row. */
  writeId: string;
  nodes: readonly NodeWrite[];
  events: readonly NewEvent[];
  /** Open nodes after this write; unchanged when absent. */
  nextNodes?: readonly { id: string; typeId: string }[];
  checkpoint: boolean;
  move:
    | { kind: "hold" }
    | { kind: "park"; status: "running" | "waiting-external"; waitingOn: string; reason?: string; dueMs: number; inboxSeq: number; effectId?: string }
    | { kind: "complete"; outputs: Record<string, unknown> }
    | { kind: "fail"; error: Record<string, unknown>; failedNode?: string }
    | { kind: "cancel" }
    /** Made only while a pause is asked for, else the run stays held. The statement writes the event. */
    | { kind: "pause"; interrupted?: { nodeId: string; attempt: number } };
  deadLetters: readonly NewDeadLetter[];
};

/** A stop as the holder is told of it. */
export type StopRequest = "cancel" | "pause_immediate" | "pause_draining" | null;

/**
 * What became of a holder's write. `became`: a pause that was asked for turns parking, handing on and completing into
 * `paused`, with what was settled kept; a pause that was taken back leaves the run `held`.
 */
export type ProgressAnswer =
  | { kind: "done"; stopRequested: StopRequest; inboxSeq: number; became: "held" | "paused" | "left" }
  /** The fence is another's, or the run has ended: drop it. */
  | { kind: "fenced" }
  /** A cancel came first: the move was not made; the holder ends the run `cancelled`. */
  | { kind: "stopping" };

const progress = statement<{ id: string; verdict: string; stop_requested: StopRequest; inbox_seq: number; became: "held" | "paused" | "left" }>("runs.progress", `
with input as (
  select * from jsonb_to_recordset($1::jsonb) as t(id uuid, owner uuid, fence bigint, write_id uuid, checkpoint boolean,
    nodes jsonb, events jsonb, next_nodes text[], next_types text[], move text, status text, waiting_on text,
    waiting_reason text, due_ms bigint, inbox_seq int, waiting_effect uuid, outputs jsonb, error jsonb, failed_node text,
    dead_letters jsonb, interrupted jsonb)
), locked as (
  select r.id, r.workspace, r.pool, r.workflow_id, r.spec_hash, r.owner, r.fence, r.status, r.write_id, r.stop_requested,
    r.stop_drain, r.stop_reason, r.stop_by, r.inbox_seq, r.event_seq, r.lineage, r.chain_depth, r.input_digest, r.started_at
  -- by key, one a row: a plan that was made while the table was small would read all of it for as long as it is kept
  from input i cross join lateral (select r.* from runs r where r.id = i.id for no key update skip locked) r
), admitted as (
  select i.*, l.workspace, l.event_seq as first_seq, l.lineage, l.chain_depth, l.input_digest, l.workflow_id, l.spec_hash,
    l.inbox_seq as seen_inbox, l.stop_requested, l.stop_drain, l.stop_reason, l.stop_by, l.started_at
  from input i join locked l on l.id = i.id
  where l.owner = i.owner and l.fence = i.fence and l.status = 'running' and l.write_id is distinct from i.write_id
    and not (i.move in ('complete', 'fail', 'park') and l.stop_requested is not distinct from 'cancel')
), held as (
  -- the move as the locked row allows it: nothing leaves for anywhere but paused while a pause is asked for, and
  -- nothing is paused once the pause was taken back
  select a.id, a.owner, a.fence, a.write_id, a.checkpoint, a.nodes, a.status, a.due_ms, a.inbox_seq, a.error, a.failed_node,
    a.dead_letters, a.workspace, a.first_seq, a.lineage, a.chain_depth, a.input_digest, a.workflow_id, a.spec_hash,
    a.seen_inbox, a.stop_requested, a.stop_drain, a.stop_reason, a.stop_by, a.started_at, t.move, a.waiting_effect,
    case when t.move = 'pause' and a.move = 'complete' then '{}' else a.next_nodes end as next_nodes,
    case when t.move = 'pause' and a.move = 'complete' then '{}' else a.next_types end as next_types,
    case when t.move = 'pause' then coalesce(a.waiting_on, 'dispatch') else a.waiting_on end as waiting_on,
    a.waiting_reason, case when t.move = 'complete' then a.outputs end as outputs,
    case when t.move = 'pause' then (
      select coalesce(jsonb_agg(e.event order by e.ordinal), '[]') from jsonb_array_elements(a.events) with ordinality as e(event, ordinal)
      where e.event->>'type' <> 'run.completed') || jsonb_build_array(jsonb_build_object('type', 'run.paused', 'payload',
        jsonb_strip_nulls(jsonb_build_object('reason', a.stop_reason, 'drainPolicy', a.stop_drain,
          'interruptedNodeId', a.interrupted->>'nodeId', 'interruptedAttempt', a.interrupted->'attempt'))))
      else a.events end as events,
    case when t.move = 'pause' and a.move = 'park' then a.status when t.move = 'pause' then 'running' end as paused_from
  from admitted a cross join lateral (
    select case
      when a.stop_requested = 'pause' and a.move in ('park', 'complete', 'pause') then 'pause'
      when a.move = 'pause' then 'hold'
      else a.move end as move
  ) t
), kept as (
  insert into run_nodes as n (run_id, node_id, workspace, status, attempts, failures, asks, fence, due_at,
    waiting_effect, settled_at, output, error, history)
  select h.id, w->>'node', h.workspace, w->>'status', (w->>'attempts')::int, (w->>'failures')::int, (w->>'asks')::int,
    h.fence, now() + (w->>'dueMs')::bigint * interval '1 millisecond', (w->>'effectId')::uuid,
    case when w->>'status' in ('completed', 'failed', 'skipped', 'cancelled') then now() end,
    w->'output', w->'error', case when w ? 'history' then jsonb_build_array((w->'history') || jsonb_build_object('endedAt', now())) else '[]' end
  from held h cross join lateral jsonb_array_elements(h.nodes) as w
  order by h.id, w->>'node'
  on conflict (run_id, node_id) do update set
    status = excluded.status, attempts = excluded.attempts, failures = excluded.failures, asks = excluded.asks,
    fence = excluded.fence, due_at = excluded.due_at, waiting_effect = excluded.waiting_effect, settled_at = excluded.settled_at, output = excluded.output,
    error = excluded.error, history = n.history || excluded.history,
    started_at = case when excluded.status = 'started' then now() else n.started_at end, continued = false
), doubted as (
  -- an unknown effect is no open one: nothing of it is on its way
  update effects e set state = 'unknown'
  from held h
  where e.run_id = h.id and e.state = 'launched' and e.class <> 'read_only'
    and exists (select from jsonb_array_elements(h.dead_letters) as d
      where d->>'class' = 'UNKNOWN' and (d->>'scope' = 'run' or d->>'nodeId' = e.node_id))
  returning e.run_id
), moved as (
  update runs r set
    write_id = h.write_id, open_effects = greatest(0, r.open_effects - (select count(*)::int from doubted d where d.run_id = h.id)), event_seq = r.event_seq + jsonb_array_length(h.events),
    next_nodes = coalesce(h.next_nodes, r.next_nodes), next_types = coalesce(h.next_types, r.next_types),
    checkpoint_no = r.checkpoint_no + h.checkpoint::int,
    stale_losses = case when h.checkpoint then 0 else r.stale_losses end,
    stale_hand_backs = case when h.checkpoint then 0 else r.stale_hand_backs end,
    stale_deaths = case when h.checkpoint then 0 else r.stale_deaths end,
    cohort_limit = case when h.checkpoint then null else r.cohort_limit end,
    suspicion_used = r.suspicion_used and not h.checkpoint,
    owner = case when h.move = 'hold' then r.owner end,
    fence = r.fence + (h.move in ('park', 'pause'))::int,
    status = case h.move when 'hold' then 'running' when 'park' then h.status when 'complete' then 'completed'
      when 'fail' then 'failed' when 'cancel' then 'cancelled' else 'paused' end,
    paused_from = h.paused_from,
    stop_requested = case when h.move = 'pause' then null else h.stop_requested end, stop_drain = case when h.move = 'pause' then null else h.stop_drain end,
    waiting_on = case when h.move in ('park', 'pause') then h.waiting_on end,
    waiting_reason = case when h.move in ('park', 'pause') then h.waiting_reason end,
    waiting_effect = case when h.move in ('park', 'pause') then h.waiting_effect end,
    due_at = case when h.move in ('park', 'pause') then now() + h.wait_ms * interval '1 millisecond' else r.due_at end,
    sweep_at = case when h.move in ('park', 'pause') then now() + h.wait_ms * interval '1 millisecond' else r.sweep_at end,
    finished_at = case when h.move in ('complete', 'fail', 'cancel') then now() end,
    outputs = h.outputs, error = h.error, failed_node = h.failed_node
  from (select held.*, case when inbox_seq is distinct from seen_inbox then 0 else coalesce(due_ms, 0) end as wait_ms from held) h
  where r.id = h.id
  returning r.id, r.pool, r.due_at, h.move, r.stop_requested, r.inbox_seq, r.owner, r.status
), written as (
  insert into run_events (run_id, seq, workspace, type, node_id, fence, payload)
  select h.id, h.first_seq + e.ordinal::int - 1, h.workspace, e.event->>'type', e.event->>'nodeId', h.fence,
    (e.event->'payload') || case when e.event->>'type' in ('run.completed', 'run.failed', 'run.cancelled')
      then jsonb_build_object('durationMs', (extract(epoch from now() - h.started_at) * 1000)::bigint) else '{}' end
      || case when e.event->>'type' = 'run.cancelled'
      then jsonb_strip_nulls(jsonb_build_object('reason', h.stop_reason, 'cancelledBy', h.stop_by)) else '{}' end
  from held h join moved m on m.id = h.id
  cross join lateral jsonb_array_elements(h.events) with ordinality as e(event, ordinal)
), announced as (
  insert into outbox (run_id, pool, due_at)
  select m.id, m.pool, m.due_at from moved m where m.move = 'park' and m.stop_requested is null
), buried as (
  insert into dead_letters (workspace, scope, run_id, node_id, workflow_id, spec_hash, failure, class, code, disposition,
    fingerprint, reason, attempts, retry_history, chain_depth, handler, payload_ref, payload_digest, effect_ids,
    fencing_token, incarnation, lineage, first_failed_at, last_failed_at, expires_at, state, next_action)
  select h.workspace, d->>'scope', h.id, d->>'nodeId', h.workflow_id, h.spec_hash, d->'failure', d->>'class', d->>'code',
    d->>'disposition', d->>'fingerprint', d->>'reason', (d->>'attempts')::int,
    coalesce(n.history, '[]') || ((d->'lastAttempt') || jsonb_build_object('endedAt', now())), h.chain_depth,
    d->>'handler', 'run:' || h.id || '/input', h.input_digest,
    array(select e.id from effects e where e.run_id = h.id
      union select x::uuid from jsonb_array_elements_text(coalesce(d->'effectIds', '[]')) as x order by 1), h.fence, h.owner, h.lineage,
    coalesce((n.history->0->>'endedAt')::timestamptz, now()), now(),
    now() + (d->>'retentionDays')::int * interval '1 day', d->>'state', d->>'nextAction'
  from held h join moved m on m.id = h.id cross join lateral jsonb_array_elements(h.dead_letters) as d
  left join run_nodes n on n.run_id = h.id and n.node_id = d->>'nodeId' -- the holder's earlier writes, all committed
  returning id, workspace, scope, run_id, node_id, class, code, disposition, reason, attempts
), told as (
  insert into ops_events (type, workspace, subject, data)
  select case when b.scope = 'run' then 'run.dead_lettered' else 'dead_letter.opened' end, b.workspace, b.run_id::text,
    jsonb_build_object('deadLetterId', b.id, 'scope', b.scope, 'nodeId', b.node_id, 'class', b.class, 'code', b.code,
      'disposition', b.disposition, 'reason', b.reason, 'attempts', b.attempts)
  from buried b
)
select i.id, coalesce(m.inbox_seq, 0) as inbox_seq,
  case l.stop_requested when 'cancel' then 'cancel'
    when 'pause' then case l.stop_drain when 'immediate' then 'pause_immediate' else 'pause_draining' end end as stop_requested,
  case
    when coalesce(m.status, l.status) = 'paused' then 'paused'
    when m.id is not null then case when m.owner is null then 'left' else 'held' end
    else case when l.owner = i.owner and l.fence = i.fence then 'held' else 'left' end end as became,
  case
    when m.id is not null or l.write_id = i.write_id then 'done'
    when l.id is null then case when exists (select from runs r where r.id = i.id) then 'busy' else 'fenced' end
    when l.owner = i.owner and l.fence = i.fence and l.status = 'running' then 'stopping'
    else 'fenced'
  end as verdict
from input i left join locked l on l.id = i.id left join moved m on m.id = i.id`);

/**
 * The holder's writes of its runs: checkpoints, retries, parking and the one ending, each one guarded statement under
 * owner and fence, many runs in one flush, one row a run.
 *
 * `merge` makes one write of all that ended meanwhile in one run; it is called once for a row, so that a repeat after
 * a lost reply sends the same `writeId`. A crash before the commit leaves the run as it was under the same fence.
 */
export function createProgress<Item>(
  db: Queryable,
  options: BatcherOptions & {
    keyOf: (item: Item) => string; merge: (items: readonly [Item, ...Item[]]) => ProgressWrite;
    /** What an item adds to the write, in bytes; many heavy ones become several writes, one after the other. */
    itemSizeOf?: (item: Item) => number;
    maxRows?: number;
  },
): GroupCommit<Item, ProgressAnswer> {
  return createGroupCommit<Item, { write: ProgressWrite; text: string }, ProgressAnswer>({
    op: "checkpoint", keyOf: options.keyOf, giveUpMs: options.giveUpMs, lingerMs: options.lingerMs,
    onFlush: options.onFlush, maxRows: options.maxRows ?? 256,
    merge: (items) => {
      const write = options.merge(items);
      return { write, text: JSON.stringify(toRow(write)) };
    },
    sizeOf: ({ text }) => text.length,
    flush: (rows) => progressAll(db, rows),
    ...(options.itemSizeOf === undefined ? {} : { itemSizeOf: options.itemSizeOf }),
  });
}

async function progressAll(db: Queryable, rows: readonly { write: ProgressWrite; text: string }[]): Promise<(ProgressAnswer | typeof busy)[]> {
  const answers = await db.query(progress, [`[${rows.map(({ text }) => text).join(",")}]`]);
  const byId = new Map(answers.map((row) => [row.id, row]));
  return rows.map(({ write }) => {
    const row = byId.get(write.runId);
    if (row === undefined || row.verdict === "busy") return busy;
    if (row.verdict === "done") return { kind: "done", stopRequested: row.stop_requested, inboxSeq: row.inbox_seq, became: row.became };
    return row.verdict === "stopping" ? { kind: "stopping" } : { kind: "fenced" };
  });
}

function toRow({ move, ...write }: ProgressWrite): Record<string, unknown> {
  return {
    id: write.runId, owner: write.owner, fence: write.fence, write_id: write.writeId, checkpoint: write.checkpoint,
    nodes: write.nodes, events: write.events, next_nodes: write.nextNodes?.map(({ id }) => id),
    next_types: write.nextNodes?.map(({ typeId }) => typeId), move: move.kind, dead_letters: write.deadLetters,
    ...(move.kind === "park" ? { status: move.status, waiting_on: move.waitingOn, waiting_reason: move.reason, due_ms: Math.ceil(move.dueMs), inbox_seq: move.inboxSeq, waiting_effect: move.effectId } : {}),
    ...(move.kind === "complete" ? { outputs: move.outputs } : {}),
    ...(move.kind === "pause" ? { interrupted: move.interrupted } : {}),
    ...(move.kind === "fail" ? { error: move.error, failed_node: move.failedNode } : {}),
  };
}
