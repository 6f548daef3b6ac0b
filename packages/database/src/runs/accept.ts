import { createGroupCommit, busy, type GroupCommit } from "../batch/create-group-commit.js";
import type { Queryable } from "../database.js";
import { violatedConstraint } from "../errors.js";
import { statement } from "../statement.js";

/** A run to be born. Its id is minted before the first try, so that a repeat is recognised. */
export type NewRun = {
  id: string;
  workspace: string;
  workflowId: string;
  specHash: string;
  pool: string;
  requires: string;
  /** Canonical JSON text. */
  input: string;
  /** SHA-256 of the canonical input, hex. */
  inputDigest: string;
  subject: Record<string, unknown>;
  tags?: readonly string[];
  metadata?: Record<string, unknown>;
  configurable?: Record<string, unknown>;
  /** With it, at most one live run per workspace, workflow and scope is accepted. */
  dedupScope?: string;
  scopeId?: string;
  traceparent?: string;
  runTimeoutMs?: number;
  /** The nodes it begins with, in the document's order. */
  nextNodes: readonly { id: string; typeId: string }[];
  /** The answer is recorded with the run and given again for the same key. */
  idempotency?: { operation: string; key: string; bodyDigest: string; answer: Record<string, unknown> };
};

/** What became of an acceptance. */
export type Accepted =
  | { kind: "created" }
  /** The key is known: same body, its recorded answer; another body, nothing was done. */
  | { kind: "replayed"; status: number; body: Record<string, unknown> }
  | { kind: "key_mismatch" }
  | { kind: "scope_active" };

const accept = statement<{ id: string; born: boolean }>("runs.accept", `
with input as (
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::text[],
    $9::jsonb[], $10::text[], $11::text[], $12::text[], $13::jsonb[])
    as t(id, workspace, workflow_id, spec_hash, pool, requires, body, input_digest, facts, idem_operation, idem_key,
      body_digest, answer)
), recorded as (
  insert into idempotency_records (workspace, operation, key, body_digest, run_id, status, body)
  select i.workspace, i.idem_operation, i.idem_key, decode(i.body_digest, 'hex'), i.id, 201, i.answer
  from input i where i.idem_key is not null
  order by i.workspace, i.idem_operation, i.idem_key
  on conflict do nothing
  returning run_id
), born as (
  insert into runs (id, workspace, workflow_id, spec_hash, pool, requires, waiting_on, input, input_digest, subject, tags,
    metadata, configurable, scope_id, dedup, traceparent, sweep_at, deadline_at, run_timeout_ms, next_nodes, next_types, lineage)
  select i.id, i.workspace, i.workflow_id, i.spec_hash, i.pool, i.requires, 'dispatch', i.body,
    decode(i.input_digest, 'hex'), i.facts->'subject',
    case when i.facts ? 'tags' then array(select jsonb_array_elements_text(i.facts->'tags')) end,
    i.facts->'metadata', i.facts->'configurable', i.facts->>'scopeId', (i.facts->>'dedup')::boolean,
    i.facts->>'traceparent', now() + $14::int * interval '1 millisecond',
    now() + (i.facts->>'runTimeoutMs')::bigint * interval '1 millisecond', (i.facts->>'runTimeoutMs')::bigint,
    array(select node->>'id' from jsonb_array_elements(i.facts->'nextNodes') node),
    array(select node->>'typeId' from jsonb_array_elements(i.facts->'nextNodes') node), i.id
  from input i
  where i.idem_key is null or exists (select from recorded r where r.run_id = i.id)
  on conflict (id) do nothing
  returning id, pool
), announced as (
  insert into outbox (run_id, pool) select id, pool from born
)
select i.id, b.id is not null as born from input i left join born b on b.id = i.id`);

const classify = statement<{ id: string; own: boolean; same_body: boolean | null; status: number | null; body: Record<string, unknown> | null }>(
  "runs.classify_accept", `
with input as (
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])
    as t(id, workspace, idem_operation, idem_key, body_digest)
)
select i.id, r.id is not null as own, c.body_digest = decode(i.body_digest, 'hex') as same_body, c.status, c.body
from input i
left join runs r on r.id = i.id
left join idempotency_records c on c.workspace = i.workspace and c.operation = i.idem_operation and c.key = i.idem_key`);

/**
 * Births runs: row, idempotency record and outbox row in one statement, many in one flush.
 *
 * Nothing of a refused run stays. A lost reply is repeated with the same ids and answered by what is stored.
 * `dispatchBoundMs` is how long a ticket may take before a worker's sweep picks the run up without one (0: brokerless).
 * Rejects when Postgres stays away for `giveUpMs`; whether the run was born is then not known, and the same
 * idempotency key tells.
 */
export function createAccept(
  db: Queryable,
  options: { dispatchBoundMs: number; giveUpMs: number; onFlush?: (op: string, rows: number) => void; maxRows?: number },
): GroupCommit<NewRun, Accepted> {
  const send = (rows: readonly NewRun[]) => acceptAll(db, rows, options.dispatchBoundMs);
  const common = { op: "accept", merge: ([only]: readonly [NewRun, ...NewRun[]]) => only, flush: send, giveUpMs: options.giveUpMs,
    sizeOf: (run: NewRun) => run.input.length, ...(options.onFlush === undefined ? {} : { onFlush: options.onFlush }) };
  const many = createGroupCommit<NewRun, NewRun, Accepted>({ ...common, maxRows: options.maxRows ?? 512 });
  // A live scope is a second unique key: such a run goes alone, so that a refusal takes its record back with it.
  const alone = createGroupCommit<NewRun, NewRun, Accepted>({ ...common, maxRows: 1 });
  const submit = (run: NewRun) => (run.dedupScope === undefined ? many(run) : alone(run));
  return Object.assign(submit, {
    idle: async () => { await many.idle(); await alone.idle(); },
    depth: () => many.depth() + alone.depth(),
  });
}

async function acceptAll(db: Queryable, rows: readonly NewRun[], dispatchBoundMs: number): Promise<(Accepted | typeof busy)[]> {
  const of = <Value>(pick: (run: NewRun) => Value) => rows.map(pick);
  let born: Set<string>;
  try {
    const answer = await db.query(accept, [
      of((run) => run.id), of((run) => run.workspace), of((run) => run.workflowId), of((run) => run.specHash),
      of((run) => run.pool), of((run) => run.requires), of((run) => run.input), of((run) => run.inputDigest),
      of((run) => JSON.stringify(factsOf(run))), of((run) => run.idempotency?.operation ?? null),
      of((run) => run.idempotency?.key ?? null), of((run) => run.idempotency?.bodyDigest ?? null),
      of((run) => (run.idempotency ? JSON.stringify(run.idempotency.answer) : null)), dispatchBoundMs,
    ]);
    born = new Set(answer.filter((row) => row.born).map((row) => row.id));
  } catch (error) {
    if (violatedConstraint(error) !== "runs_live_scope" || rows.length !== 1) throw error;
    born = new Set(); // the whole statement was taken back; the key, if known, still answers first
  }
  const unclear = rows.filter((run) => !born.has(run.id));
  const answers = unclear.length === 0 ? new Map<string, Accepted | typeof busy>() : await classifyAll(db, unclear);
  return rows.map((run) => (born.has(run.id) ? { kind: "created" } : (answers.get(run.id) ?? busy)));
}

async function classifyAll(db: Queryable, rows: readonly NewRun[]): Promise<Map<string, Accepted | typeof busy>> {
  const found = await db.query(classify, [
    rows.map((run) => run.id), rows.map((run) => run.workspace), rows.map((run) => run.idempotency?.operation ?? null),
    rows.map((run) => run.idempotency?.key ?? null), rows.map((run) => run.idempotency?.bodyDigest ?? null),
  ]);
  const byId = new Map(rows.map((run) => [run.id, run]));
  return new Map<string, Accepted | typeof busy>(found.map((row): [string, Accepted | typeof busy] => {
    if (row.own) return [row.id, { kind: "created" }];
    if (row.same_body === true) return [row.id, { kind: "replayed", status: row.status ?? 201, body: row.body ?? {} }];
    if (row.same_body === false) return [row.id, { kind: "key_mismatch" }];
    // no record and no run: a live scope, or the other's transaction has not ended yet
    return [row.id, byId.get(row.id)?.dedupScope === undefined ? busy : { kind: "scope_active" }];
  }));
}

function factsOf(run: NewRun): Record<string, unknown> {
  return {
    subject: run.subject, nextNodes: run.nextNodes, dedup: run.dedupScope !== undefined,
    scopeId: run.dedupScope ?? run.scopeId, tags: run.tags, metadata: run.metadata, configurable: run.configurable,
    traceparent: run.traceparent, runTimeoutMs: run.runTimeoutMs,
  };
}
