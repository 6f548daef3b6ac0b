import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { busy, createGroupCommit, type BatcherOptions, type GroupCommit } from "../batch/create-group-commit.js";

/** Evidence about one launch: it happened (`confirmed`, with the answer) or surely did not (`absent`). */
export type Settlement = {
  effectId: string;
  launchNo: number;
  /** The run that launched it: its row is locked first. */
  runId: string;
  outcome: "confirmed" | "absent";
  via: "answer" | "refusal" | "reconciler" | "operator" | "unsent";
  answer?: unknown;
};

/** What became of a piece of evidence. */
export type SettleAnswer =
  | { kind: "settled" }
  /** It had been settled like this (a repeat changes nothing), or a later launch was made: then kept as evidence. */
  | { kind: "known" }
  /** This launch did not happen, but an earlier one of the same identity may have: the effect stays unsettled. */
  | { kind: "unclear" }
  /** It contradicts what is recorded: kept as evidence and told on the operations stream. */
  | { kind: "contradicts" }
  | { kind: "not_found" };

const settle = statement<{ ordinal: string; verdict: SettleAnswer["kind"] | "busy" }>("effects.settle", `
with input as (
  select t.*, ordinal from jsonb_array_elements($1::jsonb) with ordinality as a(row, ordinal)
  cross join lateral jsonb_to_record(a.row) as t(effect_id uuid, launch_no int, run_id uuid, outcome text, via text, answer jsonb)
), locked as (
  select r.id from (select distinct run_id from input) i
  cross join lateral (select r.id from runs r where r.id = i.run_id for no key update skip locked) r -- by key, one a run
), target as (
  select e.id, e.run_id, e.state, e.launch_no, e.class,
    e.unclear and e.state in ('launched', 'unknown') as unclear
  from (select distinct i.effect_id from input i join locked l on l.id = i.run_id) i
  cross join lateral (select e.* from effects e where e.id = i.effect_id for no key update skip locked) e
), fits as (
  select distinct on (t.id) i.*, t.state as prior, t.class, t.run_id as of_run
  from input i join target t on t.id = i.effect_id
  where t.launch_no = i.launch_no and t.state in ('launched', 'unknown')
    -- that the last launch was refused says nothing of the one before it
    and not (t.unclear and i.outcome = 'absent' and i.via in ('refusal', 'unsent'))
  order by t.id, i.ordinal
), settled as (
  update effects e set state = f.outcome, settled_at = now(), settled_via = f.via, answer = f.answer, unclear = false
  from fits f where e.id = f.effect_id
  returning e.id
), noted as (
  update effects e set
    evidence = e.evidence || jsonb_build_object('launchNo', i.launch_no, 'outcome', i.outcome, 'via', i.via, 'at', now()),
    contradictions = e.contradictions + (i.outcome = 'confirmed' and t.state = 'absent')::int
  from input i join target t on t.id = i.effect_id
  where e.id = t.id and not exists (select from fits f where f.effect_id = t.id)
    and not (t.launch_no = i.launch_no and t.state = i.outcome) -- a repeat after a lost reply changes nothing
    and jsonb_array_length(e.evidence) < 20
), told as (
  insert into ops_events (type, subject, data)
  select 'effect.contradicted', i.run_id::text, jsonb_build_object('effectId', i.effect_id, 'recorded', t.state, 'seen', i.outcome)
  from input i join target t on t.id = i.effect_id
  where i.outcome = 'confirmed' and t.state = 'absent'
), waiting as (
  select r.id from runs r
  where r.waiting_effect in (select f.effect_id from fits f) and r.owner is null
  order by r.id
  for no key update skip locked
), ready as (
  update run_nodes n set due_at = now()
  from waiting w, fits f
  where n.run_id = w.id and n.status = 'suspended' and n.waiting_effect = f.effect_id
), changes as (
  select id, sum(lower)::int as lower, bool_or(wake) as wake from (
    select f.of_run as id, (f.prior = 'launched' and f.class <> 'read_only')::int as lower, false as wake from fits f
    union all select w.id, 0, true from waiting w
  ) c group by id
), changed as (
  update runs r set
    open_effects = greatest(0, r.open_effects - c.lower), inbox_seq = r.inbox_seq + c.wake::int,
    due_at = case when c.wake then now() else r.due_at end, sweep_at = case when c.wake then now() else r.sweep_at end
  from changes c
  where r.id = c.id and (r.id in (select id from locked) or c.wake)
  returning r.id, r.pool, c.wake
), announced as (
  insert into outbox (run_id, pool) select id, pool from changed where wake
)
select i.ordinal::text,
  case
    when f.effect_id is not null then 'settled'
    when l.id is null then case when exists (select from runs r where r.id = i.run_id) then 'busy' else 'not_found' end
    when t.id is null then case when exists (select from effects e where e.id = i.effect_id) then 'busy' else 'not_found' end
    when i.outcome = 'confirmed' and t.state = 'absent' then 'contradicts'
    when t.unclear and t.launch_no = i.launch_no then 'unclear'
    else 'known'
  end as verdict
from input i left join locked l on l.id = i.run_id left join target t on t.id = i.effect_id
left join fits f on f.effect_id = i.effect_id and f.ordinal = i.ordinal`);

/**
 * Writes evidence, many in one flush, guarded by the effect's own launch number and never by the run's fence or
 * status: accepted after a takeover and after the end (rule H8). It never moves the run; it lowers its open effects
 * and wakes who waits for the effect.
 */
export function createSettle(
  db: Queryable, options: BatcherOptions,
): GroupCommit<Settlement, SettleAnswer> {
  return createGroupCommit<Settlement, Settlement, SettleAnswer>({
    op: "effect", keyOf: ({ effectId, launchNo }) => `${effectId}/${launchNo}`, merge: ([first]) => first,
    flush: (rows) => settleAll(db, rows), ...options,
  });
}

async function settleAll(db: Queryable, rows: readonly Settlement[]): Promise<(SettleAnswer | typeof busy)[]> {
  const answers = await db.query(settle, [JSON.stringify(rows.map((row) => ({
    effect_id: row.effectId, launch_no: row.launchNo, run_id: row.runId, outcome: row.outcome, via: row.via, answer: row.answer,
  })))]);
  const verdicts = new Map(answers.map(({ ordinal, verdict }) => [Number(ordinal) - 1, verdict]));
  return rows.map((_, i) => {
    const verdict = verdicts.get(i);
    return verdict === undefined || verdict === "busy" ? busy : { kind: verdict };
  });
}
