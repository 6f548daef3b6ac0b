import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import type { EffectLaunch } from "./launch.js";

/** What became of a launch that follows an earlier one. */
export type RelaunchAnswer =
  | { kind: "launched"; launchNo: number; sentAt: number; sentAtWall: number }
  /** Somebody moved first: read the ledger again. */
  | { kind: "changed" }
  | { kind: "fenced" };

const relaunch = statement<{ verdict: RelaunchAnswer["kind"] | "launched_before"; launch_no: number }>("effects.relaunch", `
with input as (
  select $1::uuid as launch_id, $2::uuid as effect_id, $3::uuid as run_id, $4::uuid as owner, $5::bigint as fence,
    $6::text as request_digest, $7::text as class, $8::int as attempt, $9::bigint as quiet_ms, $10::bigint as key_retention_ms,
    $11::int as seen_no, $12::text as seen_state, $13::boolean as seen_own
), locked as (
  select r.id, r.workspace, r.owner, r.fence, r.status
  from input i join runs r on r.id = i.run_id
  for no key update of r
), held as (
  select i.*, l.workspace from input i join locked l on l.id = i.run_id
  where l.owner = i.owner and l.fence = i.fence and l.status = 'running'
), seen as (
  select e.id, e.launch_id, e.launch_no, e.state
  from held h join effects e on e.id = h.effect_id and e.workspace = h.workspace
  for no key update of e
), again as (
  update effects e set
    state = 'launched', launch_no = e.launch_no + 1, launch_id = h.launch_id, launched_by = h.owner, fence = h.fence,
    run_id = h.run_id, attempt = h.attempt, launched_at = now(), quiet_at = now() + h.quiet_ms * interval '1 millisecond',
    -- the destination counts from the first request it saw; after a definite absence the key is new to it
    key_until = case when s.state = 'absent' or e.key_until is null then now() + h.key_retention_ms * interval '1 millisecond'
      else e.key_until end,
    settled_at = null, settled_via = null, answer = null, request_digest = decode(h.request_digest, 'hex'),
    class = h.class, asks = 0, unclear = e.unclear or (s.state in ('launched', 'unknown') and e.class <> 'read_only')
  from held h, seen s
  where e.id = s.id and s.launch_no = h.seen_no and s.state = h.seen_state and s.state <> 'confirmed'
  returning e.id, e.launch_no, e.class
), opened as (
  update runs r set open_effects = r.open_effects + 1
  from again a, held h
  where r.id = h.run_id and a.class <> 'read_only' and not (h.seen_own and h.seen_state = 'launched')
)
select case when h.launch_id is null then 'fenced' when a.id is not null then 'launched'
    when s.launch_id = i.launch_id then 'launched_before' else 'changed' end as verdict,
  coalesce(a.launch_no, s.launch_no, 0) as launch_no
from input i left join held h on true left join seen s on true left join again a on true`);

/** A launch whose reply was lost: when it was written is not known, so nothing of it may be sent any more. */
const tooLate = { sentAt: Number.NEGATIVE_INFINITY, sentAtWall: Number.NEGATIVE_INFINITY };

/**
 * Launches a recorded effect again under its old identity: after a definite absence, or an idempotent write that the
 * destination still remembers. Taken only exactly as it was read (`seen`), under the run's lock and fence. May be
 * repeated under the same launch id after a lost reply: what had been written then is answered as too late to send.
 */
export async function relaunchEffect(
  db: Queryable, next: EffectLaunch, seen: { effectId: string; launchNo: number; state: string; ownLaunch: boolean },
): Promise<RelaunchAnswer> {
  const sent = { sentAt: performance.now(), sentAtWall: Date.now() };
  const [row] = await db.query(relaunch, [
    next.launchId, seen.effectId, next.runId, next.owner, next.fence, next.requestDigest, next.class, next.attempt,
    next.quietMs, next.keyRetentionMs ?? null, seen.launchNo, seen.state, seen.ownLaunch,
  ]);
  if (row === undefined || row.verdict === "fenced") return { kind: "fenced" };
  if (row.verdict === "changed") return { kind: "changed" };
  return { kind: "launched", launchNo: row.launch_no, ...(row.verdict === "launched" ? sent : tooLate) };
}
