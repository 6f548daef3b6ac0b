import { setTimeout as sleep } from "node:timers/promises";
import type { RebuiltNode } from "@mainstay/domain";
import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** A run to be born out of another's log. Its id is minted before the first try, so that a repeat is recognised. */
export type NewFork = {
  id: string;
  workspace: string;
  sourceId: string;
  mode: "replay" | "branch";
  /** The first sequence that is executed anew; what lies below is copied. */
  fromSeq: number;
  nodes: readonly RebuiltNode[];
  nextNodes: readonly { id: string; typeId: string }[];
  /** Instead of the source's; `input` canonical JSON text with its SHA-256, hex. */
  overlay: { input?: { text: string; digest: string }; tags?: readonly string[]; metadata?: Record<string, unknown>; configurable?: Record<string, unknown> };
  /** Milliseconds; absent: the source's own. */
  runTimeoutMs?: number;
  traceparent?: string;
  idempotency?: { operation: string; key: string; bodyDigest: string; answer: Record<string, unknown> };
};

/** What became of a fork. */
export type Forked =
  | { kind: "created" }
  | { kind: "replayed"; status: number; body: Record<string, unknown> }
  | { kind: "key_mismatch" }
  /** Unknown, of another workspace, taken away by retention, or past it. */
  | { kind: "not_found" }
  | { kind: "not_ended" }
  | { kind: "no_such_point" };

type Row = { verdict: Forked["kind"] | "busy"; status: number | null; body: Record<string, unknown> | null };

const fork = statement<Row>("runs.fork", `
with input as (
  select $1::uuid as id, $2::text as workspace, $3::uuid as source, $4::text as mode, $5::int as from_seq, $6::jsonb as facts,
    $7::jsonb as body, $8::text as input_digest, $9::text as operation, $10::text as key, decode($11::text, 'hex') as body_digest,
    $12::jsonb as answer, $13::int * interval '1 day' as retention, $14::int * interval '1 millisecond' as dispatch
), locked as (
  -- retention takes a run under the strongest lock: what is read of this one stays until the fork is born
  select r.* from input i join runs r on r.id = i.source and r.workspace = i.workspace for key share of r
), judged as (
  select l.*, i.from_seq, case
      when l.status not in ('completed', 'failed', 'cancelled') then 'not_ended'
      when l.finished_at <= now() - i.retention
        or exists (select from dead_letters d where d.run_id = l.id and d.scope = 'run' and d.expires_at <= now()) then 'not_found'
      when i.from_seq >= l.event_seq then 'no_such_point'
      -- nothing is copied out of a log that is not seen whole: asked again
      when (select count(*) from run_events e where e.run_id = l.id) <> l.event_seq then 'busy'
      else 'fit' end as verdict
  from locked l, input i
), recorded as (
  insert into idempotency_records (workspace, operation, key, body_digest, run_id, status, body)
  select i.workspace, i.operation, i.key, i.body_digest, i.id, 201, i.answer
  from input i, judged j where i.key is not null and j.verdict = 'fit'
  on conflict do nothing
  returning run_id
), born as (
  insert into runs (id, workspace, workflow_id, spec_hash, pool, requires, waiting_on, input, input_digest, subject, tags,
    metadata, configurable, traceparent, sweep_at, deadline_at, run_timeout_ms, next_nodes, next_types, lineage,
    forked_from, fork_seq, fork_mode, chain_depth, fence, event_seq, started_at)
  select i.id, j.workspace, j.workflow_id, j.spec_hash, j.pool, j.requires, 'dispatch', coalesce(i.body, j.input),
    coalesce(decode(i.input_digest, 'hex'), j.input_digest), j.subject,
    case when i.facts ? 'tags' then array(select jsonb_array_elements_text(i.facts->'tags')) else j.tags end,
    coalesce(i.facts->'metadata', j.metadata), coalesce(i.facts->'configurable', j.configurable), i.facts->>'traceparent',
    now() + i.dispatch, now() + coalesce((i.facts->>'runTimeoutMs')::bigint, j.run_timeout_ms) * interval '1 millisecond',
    coalesce((i.facts->>'runTimeoutMs')::bigint, j.run_timeout_ms),
    array(select node->>'id' from jsonb_array_elements(i.facts->'nextNodes') node),
    array(select node->>'typeId' from jsonb_array_elements(i.facts->'nextNodes') node), i.id,
    j.id, i.from_seq, i.mode, j.chain_depth, j.fence, i.from_seq,
    case when exists (select from run_events e where e.run_id = j.id and e.seq < i.from_seq and e.type = 'run.started') then now() end
  from input i, judged j
  where j.verdict = 'fit' and (i.key is null or exists (select from recorded r where r.run_id = i.id))
  on conflict (id) do nothing
  returning id, pool, workspace, forked_from, fork_seq, fork_mode, fence
), copied as (
  insert into run_events (run_id, seq, workspace, type, node_id, fence, payload, at)
  select b.id, e.seq, e.workspace, e.type, e.node_id, e.fence, e.payload, e.at
  from born b join run_events e on e.run_id = b.forked_from and e.seq < b.fork_seq
), rebuilt as (
  insert into run_nodes (run_id, node_id, workspace, status, attempts, failures, fence, settled_at, output, error)
  select b.id, n->>'node', b.workspace, n->>'status', (n->>'attempts')::int, (n->>'failures')::int, b.fence,
    e.at, case when n->>'status' = 'completed' then e.payload->'outputs' end,
    case when n->>'status' = 'failed' then e.payload->'error'->'details' || jsonb_build_object('message', e.payload->'error'->'message') end
  from born b, input i cross join lateral jsonb_array_elements(i.facts->'nodes') as n
  left join run_events e on e.run_id = i.source and e.seq = (n->>'settledBy')::int
), kept as (
  insert into recorded_outcomes (run_id, seq, workspace, event_id, type, node_id, payload)
  select b.id, e.seq, e.workspace, e.event_id, e.type, e.node_id, e.payload
  from born b join run_events e on e.run_id = b.forked_from and e.seq >= b.fork_seq
  where b.fork_mode = 'replay'
    and e.type in ('node.completed', 'node.failed', 'node.skipped', 'run.completed', 'run.failed', 'run.cancelled')
), announced as (
  insert into outbox (run_id, pool) select id, pool from born
)
select c.status, c.body, case
    when b.id is not null or own.id is not null then 'created'
    when c.key is not null then case when c.body_digest = i.body_digest then 'replayed' else 'key_mismatch' end
    when j.id is null then 'not_found'
    when j.verdict = 'fit' then 'busy' -- the key is another's whose transaction has just ended
    else j.verdict end as verdict
from input i left join judged j on true left join born b on true left join runs own on own.id = i.id
left join idempotency_records c on c.workspace = i.workspace and c.operation = i.operation and c.key = i.key`);

/** A busy fork is asked again so often, 20 ms apart. */
const GOES = 100;

/**
 * Births a run out of the log of one that has ended: events below the fork point verbatim under ids of their own, node
 * state, record of the key and outbox row in one statement, under a lock that keeps retention away. A replay also copies
 * what its source recorded from there on. The fork has its own lineage: its effects are its own.
 *
 * `nodes` and `nextNodes` are what `rebuild` makes of the copied events; the log of an ended run never changes, so they
 * may be read before. A lost reply is repeated with the same id.
 */
export async function forkRun(db: Queryable, asked: NewFork, limits: { retentionDays: number; dispatchBoundMs: number }): Promise<Forked> {
  const { overlay, idempotency: record } = asked;
  const facts = {
    nodes: asked.nodes, nextNodes: asked.nextNodes, tags: overlay.tags, metadata: overlay.metadata, configurable: overlay.configurable,
    runTimeoutMs: asked.runTimeoutMs, traceparent: asked.traceparent,
  };
  for (let go = 1; ; go++) {
    const [row] = await db.query(fork, [
      asked.id, asked.workspace, asked.sourceId, asked.mode, asked.fromSeq, JSON.stringify(facts), overlay.input?.text ?? null,
      overlay.input?.digest ?? null, record?.operation ?? null, record?.key ?? null, record?.bodyDigest ?? null,
      record ? JSON.stringify(record.answer) : null, limits.retentionDays, limits.dispatchBoundMs,
    ]);
    if (row === undefined) throw new Error("runs.fork gave no row");
    if (row.verdict === "replayed") return { kind: "replayed", status: row.status ?? 201, body: row.body ?? {} };
    if (row.verdict !== "busy") return { kind: row.verdict };
    if (go === GOES) throw new Error(`run ${asked.sourceId} cannot be forked: its log is not whole, or its key stays taken`);
    await sleep(20);
  }
}
