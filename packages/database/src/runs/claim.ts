import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { busy, createGroupCommit, type BatcherOptions, type GroupCommit } from "../batch/create-group-commit.js";
import { claimColumns, claimTail, type ClaimedRun } from "./claim-tail.js";

/** Who claims: its incarnation, the requirement keys it serves, and what it holds already. */
export type Claimant = { incarnation: string; requires: readonly string[]; holding: number; leaseMs: number };

/** One run named by a ticket. `claimId` is minted before the first try: a repeat after a lost reply answers the same. */
export type ClaimRequest = { runId: string; claimId: string };

/** What became of a claim; a refusal is an answer. */
export type ClaimAnswer =
  | { kind: "claimed"; run: ClaimedRun }
  /** This very claim had been written before; its reply was lost. The worker reads what it needs. */
  | { kind: "claimed_before"; runId: string; fence: string }
  | { kind: "refused"; reason: "not_found" | "ended" | "held" | "stopping" | "not_due" | "not_capable" | "isolated" | "taken_by_another_ticket" | "draining" };

type Row = Partial<ClaimedRun> & { asked: string; verdict: string; seen_fence: string | null };

const claim = statement<Row>("runs.claim", `
with input as (
  select * from unnest($1::uuid[], $2::uuid[]) as t(id, claim_id)
), me as (
  select $3::uuid as owner, $4::text[] as requires, $5::int + (select count(*) from input)::int as room,
    exists (select from incarnations n where n.id = $3::uuid and (n.lapsed_at is not null or n.ended_at is not null)) as gone
), locked as (
  select r.*, i.claim_id as new_claim_id
  from input i cross join lateral (select r.* from runs r where r.id = i.id for no key update skip locked) r -- by key, whatever the table held when this was planned
), ${claimTail}
select i.id as asked, ${claimColumns}, l.fence as seen_fence,
  case
    when c.id is not null then 'claimed'
    when l.id is null then case when exists (select from runs r where r.id = i.id) then 'busy' else 'not_found' end
    when l.owner = me.owner and l.claim_id = i.claim_id then 'claimed_before'
    when l.status in ('completed', 'failed', 'cancelled') then 'ended'
    when l.owner is not null then 'held'
    when l.stop_requested is not null or l.status not in ('pending', 'running', 'waiting-external') then 'stopping'
    when l.due_at > now() then 'not_due'
    when me.gone or not l.requires = any(me.requires) then 'not_capable'
    else 'isolated'
  end as verdict
from input i cross join me left join locked l on l.id = i.id left join claimed c on c.id = i.id`);

/**
 * Claims the runs that tickets name, many in one flush. Each run is answered to one caller, however many tickets
 * name it. A refusal is an answer: the ticket is done with that run. `claimant` is asked right before each flush, with the
 * number of its rows. Once `draining` says so, what still waits, or waits to be sent again, is refused unsent.
 */
export function createClaim(
  db: Queryable, claimant: (rows: number) => Claimant,
  options: BatcherOptions & { maxRows?: number; draining?: () => boolean },
): GroupCommit<ClaimRequest, ClaimAnswer> {
  type Row = { requests: readonly ClaimRequest[] };
  const batch = createGroupCommit<ClaimRequest, Row, { winner: string; answer: ClaimAnswer }>({
    op: "claim", keyOf: ({ runId }) => runId, merge: (requests) => ({ requests }), giveUpMs: options.giveUpMs,
    lingerMs: options.lingerMs, onFlush: options.onFlush, maxRows: options.maxRows ?? 64,
    flush: async (rows) => {
      const firsts = rows.map(({ requests }) => requests[0]).filter((request) => request !== undefined);
      if (options.draining?.() === true) return firsts.map(({ claimId }) => ({ winner: claimId, answer: { kind: "refused", reason: "draining" } }));
      const answers = await claimAll(db, claimant(firsts.length), firsts);
      return firsts.map((request, i) => {
        const answer = answers[i];
        return answer === undefined || answer === busy ? busy : { winner: request.claimId, answer };
      });
    },
  });
  const submit = async (request: ClaimRequest): Promise<ClaimAnswer> => {
    const { winner, answer } = await batch(request);
    return winner === request.claimId ? answer : { kind: "refused", reason: "taken_by_another_ticket" };
  };
  return Object.assign(submit, { idle: batch.idle, depth: batch.depth });
}

async function claimAll(db: Queryable, me: Claimant, requests: readonly ClaimRequest[]): Promise<(ClaimAnswer | typeof busy)[]> {
  const rows = await db.query(claim, [
    requests.map(({ runId }) => runId), requests.map(({ claimId }) => claimId), me.incarnation, me.requires, me.holding, me.leaseMs,
  ]);
  const byId = new Map(rows.map((row) => [row.asked, row]));
  return requests.map(({ runId }) => {
    const row = byId.get(runId);
    if (row === undefined || row.verdict === "busy") return busy;
    if (row.verdict === "claimed") return { kind: "claimed", run: toClaimed(row) };
    if (row.verdict === "claimed_before") return { kind: "claimed_before", runId, fence: row.seen_fence ?? "0" };
    return { kind: "refused", reason: row.verdict as Extract<ClaimAnswer, { kind: "refused" }>["reason"] };
  });
}

/** Numbers that Postgres sends as text, as numbers. */
export function toClaimed(row: Partial<ClaimedRun>): ClaimedRun {
  const ms = (value: unknown) => (value === null || value === undefined ? null : Number(value));
  return { ...(row as ClaimedRun), deadlineMs: ms(row.deadlineMs), ageMs: Number(row.ageMs), waitedMs: Number(row.waitedMs), lostMs: ms(row.lostMs) };
}
