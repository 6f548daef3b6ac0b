import { randomUUID } from "node:crypto";
import { transitions, type RunStatus, type Transition, type Verb } from "@mainstay/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClaim, enforceDeadlines, enforceStops, handBackRuns, requestPause, requestStop, statements, suspectRuns, sweepRuns, takeOver, unpauseRun } from "../../src/index.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { accept, beginWorker, claim, claimant, lapse, limits, parkingOf, progress, rowOf, writeOf } from "../bench/seed.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

type Held = { runId: string; owner: string; fence: string };

const statuses: readonly RunStatus[] = ["pending", "running", "paused", "waiting-approval", "waiting-input", "waiting-external", "cancelling", "completed", "failed", "cancelled"];
const failing = { code: "mainstay.handler_exception" };

/** How each verb of the table is really done, by somebody who held the run once under `held`. */
const acts: Readonly<Record<Exclude<Verb, "accept" | "fork">, (held: Held) => Promise<unknown>>> = {
  claim: async ({ runId }) => createClaim(bench.db, () => claimant(peer), { giveUpMs: 5_000 })({ runId, claimId: randomUUID() }),
  sweep: async () => sweepRuns(bench.db, claimant(peer), [randomUUID()]),
  checkpoint: async (held) => progress(bench.db, writeOf(held, { checkpoint: true })),
  complete: async (held) => progress(bench.db, writeOf(held, { events: [{ type: "run.completed", payload: {} }], move: { kind: "complete", outputs: {} } })),
  retry: async (held) => progress(bench.db, writeOf(held, { move: { kind: "park", status: "running", waitingOn: "retry", dueMs: 60_000, inboxSeq: 0 } })),
  park: async (held) => progress(bench.db, parkingOf(held)),
  bury: async (held) => progress(bench.db, writeOf(held, { events: [{ type: "run.failed", payload: {} }], move: { kind: "fail", error: failing } })),
  pauseHeld: async (held) => {
    await bench.sql("update runs set stop_requested = 'pause', stop_drain = 'immediate', stop_at = now() where status = 'running'");
    return progress(bench.db, writeOf(held, { move: { kind: "pause" } }));
  },
  pause: async ({ runId }) => requestPause(bench.db, { runId, workspace: "acme", by: "k", drain: "drain-current-node" }),
  pauseUnheld: async ({ runId }) => requestPause(bench.db, { runId, workspace: "acme", by: "k", drain: "drain-current-node" }),
  unpause: async ({ runId }) => unpauseRun(bench.db, { runId, workspace: "acme" }),
  stop: async (held) => progress(bench.db, writeOf(held, { events: [{ type: "run.cancelled", payload: {} }], move: { kind: "cancel" } })),
  handBack: async (held) => handBackRuns(bench.db, { owner: held.owner, limits, runs: [{ id: held.runId, fence: held.fence, kind: "mislaid" }] }),
  takeOver: async (held) => {
    await lapse(bench, held.owner);
    return takeOver(bench.db, { incarnations: [held.owner], limits });
  },
  suspect: async (held) => suspectRuns(bench.db, { incarnations: [held.owner], limits }),
  cancel: async ({ runId }) => requestStop(bench.db, { runId, workspace: "acme", by: "k" }),
  cancelUnheld: async ({ runId }) => requestStop(bench.db, { runId, workspace: "acme", by: "k" }),
  enforceStop: async () => {
    await bench.sql("update runs set stop_requested = 'cancel', stop_at = now() - interval '1 hour' where status not in ('completed', 'failed', 'cancelled')");
    return enforceStops(bench.db, { graceMs: 0, limits });
  },
  enforceDeadline: async () => {
    await bench.sql("update runs set deadline_at = now() - interval '1 second', run_timeout_ms = 1");
    return enforceDeadlines(bench.db, { limits });
  },
};

let peer: string;

/** A run that was held once and now has this status: held when it runs and the verb needs a holder, else by nobody. */
async function runIn(status: RunStatus, needs: "holder" | "nobody"): Promise<Held> {
  await bench.sql("truncate runs, run_nodes, run_events, outbox, effects, incarnations, dead_letters, ops_events cascade");
  const owner = await beginWorker(bench.db);
  peer = await beginWorker(bench.db);
  const runId = await accept(bench.db);
  const { fence } = await claim(bench.db, owner, runId);
  const ended = ["completed", "failed", "cancelled"].includes(status);
  await bench.sql(
    `update runs set status = $2, owner = case when $3 then owner end, waiting_on = case when $3 then null else 'dispatch' end, finished_at = case when $4 then now() end,
      paused_from = case when $2 = 'paused' then 'running' end, due_at = now() - interval '1 second', sweep_at = now() - interval '1 second' where id = $1`,
    [runId, status, status === "running" && needs === "holder", ended]);
  return { runId, owner, fence };
}

const needsHolder = ({ fence }: Transition): boolean => ["hold", "drop", "lapsed", "suspected"].includes(fence);

/** Verbs that one statement does: `running` stands apart in the table, since there a holder may be. */
const unheldTwins: readonly (readonly Verb[])[] = [["cancel", "cancelUnheld"], ["pause", "pauseUnheld"]];

/** A verb that keeps the status is told by its fence, its checkpoint or its owner. */
const facts = async (runId: string): Promise<string> => {
  const { status, owner, fence, checkpoint_no: checkpoint } = await rowOf(bench, runId);
  return JSON.stringify([status, owner, fence, checkpoint]);
};

for (const [verb, transition] of Object.entries(transitions) as [Verb, Transition][]) {
  if (verb === "accept" || verb === "fork") continue; // they make a run
  test(`${transition.statement} moves a run by ${verb} from ${transition.from.join(", ")} and from no other status`, async () => {
    for (const status of statuses) {
      const held = await runIn(status, needsHolder(transition) ? "holder" : "nobody");
      const before = await facts(held.runId);
      await acts[verb](held);
      const after = await rowOf(bench, held.runId);
      const moves = transition.from.includes(status) || unheldTwins.some((twins) => twins.includes(verb) && twins.some((other) => (transitions[other].from as readonly string[]).includes(status)));
      expect(await facts(held.runId) !== before, `${verb} from ${status}`).toBe(moves);
      if (moves) expect(transition.to, `${verb} from ${status}`).toContain(after["status"]);
    }
  });
}

test("a holder's verbs are refused under every fence but the current one, and from every owner but the named one", async () => {
  for (const verb of ["checkpoint", "complete", "retry", "park", "bury", "stop", "pauseHeld", "handBack"] as const) {
    const held = await runIn("running", "holder");
    const before = await facts(held.runId);
    await acts[verb]({ ...held, fence: "0" });
    await acts[verb]({ ...held, fence: "2" });
    await acts[verb]({ ...held, owner: peer });
    expect(await facts(held.runId), verb).toBe(before);
  }
});

test("every move of the table names a statement that is defined", () => {
  for (const { statement } of Object.values(transitions)) expect([...statements.keys()]).toContain(statement);
});
