/**
 * The part that `runs.claim` and `runs.sweep` share: of the rows in the CTE `locked` (locked, newest version, with the
 * `new_claim_id` minted for each) those that fit are claimed; fence, status, attempt, `lease.acquired`, `run.started` or
 * `workflow.restored`, and `node.started` of the next ready nodes are written before any of their code runs.
 *
 * Expects a CTE `me (owner uuid, requires text[], room int, gone boolean)`: room is how many runs the process would hold
 * with all of `locked`, for the isolation of runs that were lost again (rule H15); gone says that the incarnation is seen
 * to have lapsed or ended, which is never taken back.
 */
export const claimTail = `
fit as (
  select l.*, me.owner as new_owner
  from locked l, me
  where l.owner is null and l.status in ('pending', 'running', 'waiting-external') and l.stop_requested is null
    and l.due_at <= now() and l.requires = any(me.requires) and (l.cohort_limit is null or l.cohort_limit >= me.room)
    and not me.gone
), begun as (
  insert into run_nodes as n (run_id, node_id, workspace, status, attempts, fence)
  select f.id, node, f.workspace, 'started', 1, f.fence + 1
  from fit f cross join lateral unnest(f.next_nodes) as node
  order by f.id, node
  on conflict (run_id, node_id) do update set
    status = 'started', attempts = n.attempts + case when n.status = 'suspended' then 0 else 1 end,
    continued = n.status = 'suspended', fence = excluded.fence, started_at = now(), due_at = null, waiting_effect = null
  where n.due_at is null or n.due_at <= now()
  returning run_id, node_id, attempts, failures, asks, continued
), begun_of as (
  select run_id, count(*) filter (where not continued) as started,
    jsonb_agg(jsonb_build_object('node', node_id, 'attempt', attempts, 'failures', failures, 'asks', asks,
      'continued', continued) order by node_id) as nodes
  from begun group by run_id
), claimed as (
  update runs r set
    owner = f.new_owner, fence = r.fence + 1, claim_id = f.new_claim_id, status = 'running', paused_from = null, waiting_on = null,
    waiting_reason = null, waiting_effect = null, claims = r.claims + 1, claimed_at = now(),
    started_at = coalesce(r.started_at, now()), lost_trigger = null, lost_owner = null,
    event_seq = r.event_seq + 1 + case when r.started_at is null or r.lost_trigger is not null then 1 else 0 end
      + coalesce((select b.started from begun_of b where b.run_id = r.id), 0)
  from fit f
  where r.id = f.id
  returning r.id, r.workspace, r.workflow_id, r.spec_hash, r.pool, r.input, r.fence, r.claims, r.event_seq,
    r.checkpoint_no, r.lineage, r.next_nodes, r.next_types, r.deadline_at, r.inbox_seq, r.crashes, r.cohort_limit, r.traceparent,
    r.replay_of, r.forked_from, r.fork_mode, r.created_at, r.claim_id, f.claim_id as claim_before, f.status as status_before, f.due_at as due_before, f.started_at as began_before, f.lost_trigger, f.lost_owner, f.lost_at, f.subject,
    f.tags, f.metadata, f.event_seq as first_seq, f.claims as claims_before
), written as (
  insert into run_events (run_id, seq, workspace, type, node_id, fence, payload)
  select c.id, c.first_seq, c.workspace, 'lease.acquired', null, c.fence,
    jsonb_build_object('leaseId', c.fence::text, 'host', 'cloud', 'instanceId', me.owner,
      'expiresAt', to_char((now() + $6::int * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from claimed c, me
  union all
  select c.id, c.first_seq + 1, c.workspace, 'run.started', null, c.fence,
    jsonb_build_object('workflowId', c.workflow_id, 'owner', jsonb_build_object('tenant', c.workspace, 'subject', c.subject),
      'engineVersion', 1)
      || case when c.tags is null then '{}' else jsonb_build_object('tags', c.tags) end
      || case when c.metadata is null then '{}' else jsonb_build_object('metadata', c.metadata) end
  from claimed c where c.began_before is null
  union all
  select c.id, c.first_seq + 1, c.workspace, 'workflow.restored', null, c.fence,
    jsonb_build_object('fromSnapshotSeq', c.first_seq - 1, 'engineVersion', 1, 'x-trigger', c.lost_trigger,
      'x-instance-id', me.owner, 'x-previous-instance-id', c.lost_owner)
  from claimed c, me where c.began_before is not null and c.lost_trigger is not null
  union all
  select c.id, c.first_seq + case when c.began_before is null or c.lost_trigger is not null then 2 else 1 end
      + (row_number() over (partition by c.id order by b.node_id))::int - 1,
    c.workspace, 'node.started', b.node_id, c.fence,
    jsonb_build_object('nodeId', b.node_id, 'typeId', t.type_id, 'attempt', b.attempts - 1)
  from claimed c
  join begun b on b.run_id = c.id
  join lateral unnest(c.next_nodes, c.next_types) as t(node_id, type_id) on t.node_id = b.node_id
  where not b.continued
)`;

/** What a claim hands to the worker. */
export const claimColumns = `
  c.id, c.workspace, c.workflow_id as "workflowId", c.spec_hash as "specHash", c.pool, c.input, c.fence,
  c.claims, c.checkpoint_no as "checkpointNo", c.lineage, c.next_nodes as "nextNodes", c.inbox_seq as "inboxSeq",
  c.crashes, c.tags, c.metadata, c.cohort_limit as "cohortLimit", c.traceparent,
  extract(epoch from c.deadline_at - now()) * 1000 as "deadlineMs",
  extract(epoch from now() - c.created_at) * 1000 as "ageMs",
  c.forked_from as "forkedFrom", c.fork_mode as "forkMode", c.lost_trigger as "lostTrigger", c.lost_owner as "lostOwner", c.claim_id as "claimId", c.claim_before as "claimBefore",
  c.status_before as "statusBefore", extract(epoch from now() - c.due_before) * 1000 as "waitedMs",
  extract(epoch from now() - c.lost_at) * 1000 as "lostMs",
  coalesce((select b.nodes from begun_of b where b.run_id = c.id), '[]'::jsonb) as nodes`;

/** One claimed run, as the worker begins it. Times in milliseconds of the database's clock. */
export type ClaimedRun = {
  id: string;
  workspace: string;
  workflowId: string;
  specHash: string;
  pool: string;
  input: unknown;
  /** bigint as text. */
  fence: string;
  claims: number;
  checkpointNo: number;
  lineage: string;
  nextNodes: string[];
  inboxSeq: number;
  crashes: number;
  tags: string[] | null;
  metadata: Record<string, unknown> | null;
  cohortLimit: number | null;
  traceparent: string | null;
  /** The run it was forked from, and how. */
  forkedFrom: string | null;
  forkMode: "replay" | "branch" | null;
  deadlineMs: number | null;
  ageMs: number;
  /** The identity of this claim, and of the one before it. */
  claimId: string;
  claimBefore: string | null;
  /** What it was before: `pending` (its first start), `running` (after a retry or a loss) or `waiting-external`. */
  statusBefore: string;
  /** Since it was due. */
  waitedMs: number;
  lostTrigger: string | null;
  lostOwner: string | null;
  lostMs: number | null;
  /** The nodes whose execution this claim began (or continued: a suspended attempt goes on under its number). */
  nodes: { node: string; attempt: number; failures: number; asks: number; continued: boolean }[];
};
