import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { busy, createGroupCommit, type BatcherOptions, type GroupCommit } from "../batch/create-group-commit.js";
import type { EffectClass, Keying } from "@mainstay/domain";
import { readRecorded, type RecordedRow } from "./read-recorded.js";

/** One intent to act on the outside world, written and committed before the first byte leaves. */
export type EffectLaunch = {
  /** Minted by the caller; kept only when the identity is new. */
  effectId: string;
  /** Minted before the first try: a repeat after a lost reply is recognised by it. */
  launchId: string;
  runId: string;
  workspace: string;
  owner: string;
  fence: string;
  /** SHA-256 of the identity, hex. It is what reaches the other side as the idempotency key. */
  identity: string;
  keying: Keying;
  nodeId: string;
  key: string;
  businessKey?: string;
  class: EffectClass;
  destination?: string;
  /** SHA-256 of the canonical request, hex. */
  requestDigest: string;
  attempt: number;
  /** sendGrace + timeoutMs + providerMaxMs: after it nothing of this launch can still arrive. */
  quietMs: number;
  /** How long the destination remembers the key; absent for a class without a key. */
  keyRetentionMs?: number;
};

/** What became of a launch. */
export type LaunchAnswer =
  /**
   * Committed: send now, within the send grace, which counts from `sentAt` (this process's monotonic milliseconds right
   * before the statement was sent, so never later than the database's launch instant) and from `sentAtWall`.
   */
  | { kind: "launched"; effectId: string; launchNo: number; sentAt: number; sentAtWall: number }
  /** The identity stands in the ledger already; nothing was changed. */
  | { kind: "recorded"; effect: RecordedRow }
  | { kind: "fenced" };

const launch = statement<{ launch_id: string; verdict: "launched" | "recorded" | "fenced" | "busy" }>("effects.launch", `
with input as (
  select * from jsonb_to_recordset($1::jsonb) as t(launch_id uuid, effect_id uuid, run_id uuid, owner uuid, fence bigint,
    identity text, keying text, node_id text, key text, business_key text, class text, destination text,
    request_digest text, attempt int, quiet_ms bigint, key_retention_ms bigint)
), locked as (
  select r.id, r.workspace, r.owner, r.fence, r.status, r.lineage, r.era
  from (select distinct run_id from input) i
  cross join lateral (select r.* from runs r where r.id = i.run_id for no key update skip locked) r -- by key, one a run
), held as (
  select i.*, l.workspace, l.lineage, l.era
  from input i join locked l on l.id = i.run_id
  where l.owner = i.owner and l.fence = i.fence and l.status = 'running'
), put as (
  insert into effects (id, workspace, identity, keying, lineage, run_id, node_id, key, business_key, class, destination,
    request_digest, state, launch_id, launched_by, fence, era, attempt, quiet_at, key_until, provider_key)
  select h.effect_id, h.workspace, decode(h.identity, 'hex'), h.keying, h.lineage, h.run_id, h.node_id, h.key,
    h.business_key, h.class, h.destination, decode(h.request_digest, 'hex'), 'launched', h.launch_id, h.owner, h.fence,
    h.era, h.attempt, now() + h.quiet_ms * interval '1 millisecond',
    now() + h.key_retention_ms * interval '1 millisecond', h.identity
  from held h
  order by h.workspace, h.identity, h.launch_id
  on conflict (workspace, identity) do nothing
  returning launch_id, run_id, class
), opened as (
  update runs r set open_effects = r.open_effects + n.opened
  from (select run_id, count(*)::int as opened from put where class <> 'read_only' group by run_id) n
  where r.id = n.run_id
)
select i.launch_id,
  case
    when p.launch_id is not null then 'launched'
    when h.launch_id is not null then 'recorded'
    when l.id is null and exists (select from runs r where r.id = i.run_id) then 'busy'
    else 'fenced'
  end as verdict
from input i left join locked l on l.id = i.run_id left join held h on h.launch_id = i.launch_id
left join put p on p.launch_id = i.launch_id`);

/**
 * Writes effects into the ledger, many in one flush, each under its run's lock, owner and fence. Committed before the
 * caller sends: a crash in between leaves a launch without a request, and the quiet instant tells when that is sure.
 */
export function createLaunch(
  db: Queryable, options: BatcherOptions,
): GroupCommit<EffectLaunch, LaunchAnswer> {
  return createGroupCommit<EffectLaunch, EffectLaunch, LaunchAnswer>({
    op: "effect", merge: ([only]) => only, flush: (rows) => launchAll(db, rows), ...options,
  });
}

async function launchAll(db: Queryable, rows: readonly EffectLaunch[]): Promise<(LaunchAnswer | typeof busy)[]> {
  const sent = { sentAt: performance.now(), sentAtWall: Date.now() };
  const answers = await db.query(launch, [JSON.stringify(rows.map(toRow))]);
  const verdicts = new Map(answers.map((row) => [row.launch_id, row.verdict]));
  const known = rows.filter((row) => verdicts.get(row.launchId) === "recorded");
  const recorded = known.length === 0 ? new Map<string, RecordedRow>() : await readRecorded(db, known);
  return rows.map((row) => {
    const verdict = verdicts.get(row.launchId);
    if (verdict === "launched") return { kind: "launched", effectId: row.effectId, launchNo: 1, ...sent };
    if (verdict === "fenced") return { kind: "fenced" };
    const effect = recorded.get(row.launchId);
    if (effect === undefined) return busy; // the other's launch has not committed yet, or was taken back
    // this very launch, its reply was lost: when it was written is not known, so nothing of it may be sent any more
    if (effect.launchId === row.launchId) return { kind: "launched", effectId: effect.effectId, launchNo: effect.launchNo, sentAt: Number.NEGATIVE_INFINITY, sentAtWall: Number.NEGATIVE_INFINITY };
    return { kind: "recorded", effect };
  });
}

function toRow(row: EffectLaunch): Record<string, unknown> {
  return {
    launch_id: row.launchId, effect_id: row.effectId, run_id: row.runId, owner: row.owner, fence: row.fence,
    identity: row.identity, keying: row.keying, node_id: row.nodeId, key: row.key, business_key: row.businessKey,
    class: row.class, destination: row.destination, request_digest: row.requestDigest, attempt: row.attempt,
    quiet_ms: row.quietMs, key_retention_ms: row.keyRetentionMs,
  };
}
