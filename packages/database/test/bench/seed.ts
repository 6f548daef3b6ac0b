import { createHash, randomUUID } from "node:crypto";
import {
  beginIncarnation, createAccept, createClaim, createLaunch, createProgress, createSettle, lapseIncarnations, mintRunId,
  type ClaimedRun, type EffectLaunch, type LaunchAnswer, type NewRun, type ProgressAnswer, type ProgressWrite, type Queryable, type ReleaseLimits,
  type SettleAnswer, type Settlement,
} from "../../src/index.js";
import type { Bench } from "./open-bench.js";

const GIVE_UP_MS = 20_000;

/** The key every run of a bench requires. */
export const REQUIRES = "default/core.noop";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Limits as a fleet with default settings has them. */
export const limits: ReleaseLimits = { crashLimit: 5, lossLimit: 20, handBackLimit: 20, backoffBaseMs: 1000, retentionDays: 30 };

/** A run to be born, with one node that does nothing. */
export function newRun(more: Partial<NewRun> = {}): NewRun {
  return {
    id: mintRunId(), workspace: "acme", workflowId: "order", specHash: "spec", pool: "default", requires: REQUIRES, input: "{}", inputDigest: sha256("{}"),
    subject: { type: "key", id: "k" }, nextNodes: [{ id: "a", typeId: "core.noop" }], ...more,
  };
}

/** Accepts one run, due and sweepable at once; answers its id. */
export async function accept(db: Queryable, more: Partial<NewRun> = {}): Promise<string> {
  const run = newRun(more);
  const answer = await createAccept(db, { dispatchBoundMs: 0, giveUpMs: GIVE_UP_MS })(run);
  if (answer.kind !== "created") throw new Error(`the run was not created: ${answer.kind}`);
  return run.id;
}

/** Begins a worker's incarnation with a lease of 3 s. */
export async function beginWorker(db: Queryable): Promise<string> {
  const id = randomUUID();
  await beginIncarnation(db, { id, role: "worker", pool: "default", host: "bench", version: "1", leaseMs: 3000 });
  return id;
}

export const claimant = (incarnation: string, holding = 0) => ({ incarnation, requires: [REQUIRES], holding, leaseMs: 3000 });

/** Claims one run for an incarnation; throws when it is refused. */
export async function claim(db: Queryable, owner: string, runId: string): Promise<ClaimedRun> {
  const answer = await createClaim(db, () => claimant(owner), { giveUpMs: GIVE_UP_MS })({ runId, claimId: randomUUID() });
  if (answer.kind !== "claimed") throw new Error(`the claim was answered ${JSON.stringify(answer)}`);
  return answer.run;
}

/** Accepts and claims a run; answers what its holder needs to write. */
export async function hold(db: Queryable, owner: string, more: Partial<NewRun> = {}): Promise<{ runId: string; owner: string; fence: string; run: ClaimedRun }> {
  const runId = await accept(db, more);
  const run = await claim(db, owner, runId);
  return { runId, owner, fence: run.fence, run };
}

/** One holder's write; a checkpoint of nothing when nothing is said. */
export function writeOf(held: { runId: string; owner: string; fence: string }, more: Partial<ProgressWrite> = {}): ProgressWrite {
  return {
    runId: held.runId, owner: held.owner, fence: held.fence, writeId: randomUUID(), nodes: [], events: [], checkpoint: false, move: { kind: "hold" }, deadLetters: [],
    ...more,
  };
}

/** The write that ends a run `completed` by its node `a`. */
export const completionOf = (held: { runId: string; owner: string; fence: string }): ProgressWrite => writeOf(held, {
  nodes: [{ node: "a", status: "completed", attempts: 1, failures: 0, asks: 0, output: {} }],
  events: [{ type: "node.completed", nodeId: "a", payload: { nodeId: "a" } }, { type: "run.completed", payload: { outputs: {} } }],
  checkpoint: true, move: { kind: "complete", outputs: {} },
});

/** The write that parks a run on an effect, due in a minute. */
export const parkingOf = (held: { runId: string; owner: string; fence: string }, more: { inboxSeq?: number; effectId?: string } = {}): ProgressWrite => writeOf(held, {
  nodes: [{ node: "a", status: "suspended", attempts: 1, failures: 0, asks: 0, dueMs: 60_000, ...(more.effectId === undefined ? {} : { effectId: more.effectId }) }],
  move: {
    kind: "park", status: "waiting-external", waitingOn: "effect", dueMs: 60_000, inboxSeq: more.inboxSeq ?? 0,
    ...(more.effectId === undefined ? {} : { effectId: more.effectId }),
  },
});

export const progress = (db: Queryable, write: ProgressWrite): Promise<ProgressAnswer> =>
  createProgress<ProgressWrite>(db, { keyOf: ({ runId, fence }) => `${runId}/${fence}`, merge: ([only]) => only, giveUpMs: GIVE_UP_MS })(write);

/** A launch of one effect by a holder. */
export function launchOf(held: { runId: string; owner: string; fence: string }, more: Partial<EffectLaunch> = {}): EffectLaunch {
  return {
    effectId: randomUUID(), launchId: randomUUID(), runId: held.runId, workspace: "acme", owner: held.owner, fence: held.fence,
    identity: sha256(randomUUID()), keying: "activity-recipe", nodeId: "a", key: "charge", class: "non_idempotent_write", requestDigest: sha256("request"), attempt: 0,
    quietMs: 30_000, ...more,
  };
}

export const launch = (db: Queryable, row: EffectLaunch): Promise<LaunchAnswer> => createLaunch(db, { giveUpMs: GIVE_UP_MS })(row);

export const settle = (db: Queryable, row: Settlement): Promise<SettleAnswer> => createSettle(db, { giveUpMs: GIVE_UP_MS })(row);

/** Makes an incarnation overdue and lapses it, with the beat number a witness would have seen. */
export async function lapse({ sql, db }: Bench, id: string): Promise<void> {
  const [row] = await sql<{ beatNo: string }>(`update incarnations set beat_at = now() - interval '1 hour' where id = $1 returning beat_no::text as "beatNo"`, [id]);
  const lapsed = await lapseIncarnations(db, { seen: [{ id, beatNo: row?.beatNo ?? "0" }], heartbeatMs: 1000 });
  if (lapsed.length !== 1) throw new Error(`incarnation ${id} was not lapsed`);
}

/** The row of a run, as Postgres has it. */
export async function rowOf({ sql }: Bench, runId: string): Promise<Record<string, unknown>> {
  const [row] = await sql("select * from runs where id = $1", [runId]);
  if (row === undefined) throw new Error(`run ${runId} is not stored`);
  return row;
}

/** The types of a run's events, in order. */
export async function typesOf({ sql }: Bench, runId: string): Promise<string[]> {
  return (await sql<{ type: string }>("select type from run_events where run_id = $1 order by seq", [runId])).map(({ type }) => type);
}
