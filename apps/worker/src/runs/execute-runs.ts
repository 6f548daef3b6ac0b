import { createGroupCommit, createProgress, isTransient, loadNodes, loadOutcomes, retryWhileAway, type ClaimedRun, type LoadedNode, type BatcherOptions, type ProgressAnswer, type Queryable, type StopRequest } from "@mainstay/database";
import { toEnvelope, type NodeStatus } from "@mainstay/domain";
import type { Tracing } from "@mainstay/telemetry";
import { executeNode } from "../nodes/execute-node.js";
import type { NodeParts } from "../nodes/node-parts.js";
import type { KnownWorkflows } from "../workflows/known-workflows.js";
import { cutRun, holdBack } from "./cut-run.js";
import { goesOn, isExecuting, isHeld, type HeldRun, type NodeMemory, type Settlement } from "./held-run.js";
import type { HeldRuns } from "./held-runs.js";
import { traceNode } from "./trace-node.js";
import { mergeSettlements, type MergedWrite, type MergeSettings } from "./merge-settlements.js";

export type ExecuteParts = {
  db: Queryable;
  held: HeldRuns;
  workflows: KnownWorkflows;
  tracing?: Tracing | undefined;
  nodes: NodeParts;
  settings: MergeSettings;
  batch: BatcherOptions;
  /** After a write is stored: hints for readers and sweepers, metrics of endings; `paused`: instead of the write's move. */
  onStored: (run: HeldRun, write: MergedWrite["write"], paused: boolean) => void;
  onFenced: (op: string, runId?: string) => void;
  onExecuted: (run: HeldRun, settlement: Settlement) => void;
  onError: (error: unknown, run: HeldRun) => void;
};

export type ExecuteRuns = {
  /** Begins a run that has just been claimed for this process, in the incarnation that claimed it. */
  begin: (claimed: ClaimedRun, owner: string) => Promise<void>;
  /** A cancel was seen: the code is told, nothing new starts, the run ends `cancelled`. */
  stop: (run: HeldRun) => void;
  /** A stop was seen, or that there is none (any more), by a question put at `askedAt` (monotonic ms): cancels, pauses, or goes on. */
  heed: (run: HeldRun, asked: StopRequest, askedAt: number) => void;
  /** Drain: a run that executes nothing goes to a peer at once, the others at their next checkpoint. */
  yieldIdle: () => void;
  idle: () => Promise<void>;
};

/** The longest wait that a timer of Node can hold. Milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Item = { run: HeldRun; settlement: Settlement; merged?: MergedWrite };

/** Drives the runs this process holds: nodes in, merged writes out, one ending a run. */
export function createExecuteRuns(parts: ExecuteParts): ExecuteRuns {
  const { db, held, workflows, settings } = parts;
  const progress = createProgress<Item>(db, {
    keyOf: ({ run }) => `${run.id}/${run.fence}`,
    merge: (items) => {
      const [{ run }] = items;
      if (run.dropped) throw new Error("the run is no longer held");
      const merged = mergeSettlements(run, items.map(({ settlement }) => settlement), settings);
      run.writing = true;
      for (const item of items) item.merged = merged;
      return merged.write;
    },
    ...parts.batch,
    // an output is written with its node and in its event
    itemSizeOf: ({ settlement }) => (settlement.kind === "completed" ? 2 * settlement.bytes : 0),
  });

  /** What earlier holders left of runs that were claimed together is read together, and again after a lost reply. */
  const load = createGroupCommit<string, string, LoadedNode[]>({
    op: "claim", merge: ([runId]) => runId, giveUpMs: parts.batch.giveUpMs,
    flush: async (runIds) => {
      const nodes = await loadNodes(db, runIds);
      return runIds.map((id) => nodes.get(id) ?? []);
    },
  });

  const settle = async (run: HeldRun, settlement: Settlement): Promise<void> => {
    if (!isHeld(run)) return;
    const item: Item = { run, settlement };
    let answer: ProgressAnswer;
    try {
      answer = await progress(item);
    } catch (error) {
      if (!isHeld(run)) return;
      if (settlement.kind !== "refused" && !isTransient(error)) { giveUp(run, error); return; }
      parts.onError(error, run);
      held.drop(run, "its progress could not be written");
      return;
    }
    const { merged } = item;
    if (merged === undefined || merged.answered || !isHeld(run)) return; // another item of the same write has gone on already
    merged.answered = true;
    run.writing = false;
    goOn(run, merged, answer);
  };

  /**
   * What cannot be written or executed for a reason that waiting does not mend ends the run once, with a failure of its
   * own; should that not be written either, the run is dropped and the audit hands it back.
   */
  const giveUp = (run: HeldRun, error: unknown): void => {
    parts.onError(error, run);
    if (run.unwritable) return;
    run.unwritable = true;
    run.writing = false;
    void settle(run, { kind: "refused", failure: toEnvelope("platform.contract_mismatch", { component: "record" }) });
  };

  const goOn = (run: HeldRun, { write, start, mergedAt }: MergedWrite, answer: ProgressAnswer): void => {
    if (answer.kind === "fenced") {
      parts.onFenced("checkpoint", run.wireId);
      held.drop(run, "a peer holds the run");
      return;
    }
    if (answer.kind === "stopping") {
      stop(run);
      return;
    }
    parts.onStored(run, write, answer.became === "paused");
    if (answer.became !== "held") {
      held.drop(run, answer.became === "paused" ? "the run is paused" : "the run has left this process");
      return;
    }
    run.inboxSeq = answer.inboxSeq;
    const { stopRequested: asked } = answer;
    if (asked === "cancel") stop(run);
    if (run.stopping) return; // its cancel is on the way: nothing new starts
    if (asked === "pause_immediate" || run.pausing?.how === "immediate") {
      run.pausing ??= { how: "draining", since: performance.now() };
      holdBack(run, start);
    } else for (const one of start) launch(run, one); // they are told as begun: a pause lets them finish
    heed(run, asked, mergedAt);
    if (run.pausing !== undefined) {
      if (!isExecuting(run)) void settle(run, { kind: "yield" });
      return;
    }
    armTimers(run);
  };

  const launch = (run: HeldRun, { node, attempt, continued }: MergedWrite["start"][number]): void => {
    void traceNode(parts.tracing, run, { node, attempt, act: () => executeNode(parts.nodes, run, { node, attempt, continued }) }).then(
      (settlement) => {
        if (settlement === undefined) return;
        parts.onExecuted(run, settlement);
        void settle(run, settlement);
      },
      (error: unknown) => { giveUp(run, error); },
    );
  };

  /** Nodes that wait in this process: a short wait, or one beside nodes that execute. */
  const armTimers = (run: HeldRun): void => {
    for (const [node, memory] of run.nodes) {
      if (memory.dueAt === undefined || run.timers.has(node) || run.executions.has(node)) continue;
      const timer = setTimeout(() => {
        run.timers.delete(node);
        // a wait longer than a timer can hold goes on in pieces
        if (memory.dueAt !== undefined && memory.dueAt > performance.now() + 5) armTimers(run);
        else void settle(run, { kind: "due", node });
      }, Math.min(LONGEST_TIMER_MS, Math.max(0, memory.dueAt - performance.now())));
      run.timers.set(node, timer);
    }
  };

  const stop = (run: HeldRun): void => {
    if (run.dropped || run.stopping) return;
    run.stopping = true;
    if (!run.begun) return; // it ends once it is known what was open
    for (const execution of run.executions.values()) {
      execution.over = true;
      execution.abort.abort(new Error("the run was cancelled"));
    }
    run.executions.clear();
    void settle(run, { kind: "cancel" });
  };

  const pause = (run: HeldRun, how: "immediate" | "draining"): void => {
    if (run.dropped || run.stopping || run.pausing?.how === how) return;
    run.pausing = { ...run.pausing, how, since: performance.now() };
    if (!run.begun) return; // it is paused once it is known what is open
    if (how === "immediate") cutRun(run);
    for (const timer of run.timers.values()) clearTimeout(timer);
    run.timers.clear();
    if (!isExecuting(run) && !run.writing) void settle(run, { kind: "yield" }); // else what is under way pauses it
  };

  const heed = (run: HeldRun, asked: StopRequest, askedAt: number): void => {
    if (asked === "cancel") stop(run);
    else if (asked !== null) pause(run, asked === "pause_immediate" ? "immediate" : "draining");
    else if (run.pausing !== undefined && run.pausing.since < askedAt && !run.dropped && !run.stopping) {
      // the pause was taken back before it was honoured
      delete run.pausing;
      if (run.begun && !run.writing) void settle(run, { kind: "yield" });
    }
  };

  const begin = async (claimed: ClaimedRun, owner: string): Promise<void> => {
    const workflow = await workflows.find(claimed.specHash);
    if (workflow === undefined) throw new Error(`run ${claimed.id}: no definition ${claimed.specHash}`);
    // another claim was under way beside this one: the later of them is not begun, the audit hands it back
    if (!held.admits(claimed)) throw new Error(`run ${claimed.id}: an isolated run has no room for it here`);
    const run: HeldRun = {
      id: claimed.id, wireId: `${claimed.workspace}/${claimed.id}`, fence: claimed.fence, owner, claimed, workflow,
      nodes: new Map(), executions: new Map(), timers: new Map(), outputBytes: 0, heldSince: performance.now(), inboxSeq: claimed.inboxSeq, writing: false, stopping: false, begun: false, unwritable: false, dropped: false,
      trace: parts.tracing?.attempt({ ...claimed, runId: `${claimed.workspace}/${claimed.id}`, trigger: claimed.lostTrigger, lostClaimId: claimed.claimBefore }),
    };
    held.add(run);
    try {
      await beginNodes(run);
    } catch (error) {
      held.drop(run, "it could not be begun"); // the audit hands back what is not held here
      throw error;
    }
  };

  const beginNodes = async (run: HeldRun): Promise<void> => {
    const { claimed } = run;
    const begun = claimed.nodes;
    const fresh = claimed.claims === 1 && claimed.checkpointNo === 0 && claimed.forkedFrom === null;
    if (!fresh) recall(run, await load(run.id));
    if (claimed.forkMode === "replay") run.recorded = await recordOf(db, run);
    for (const one of begun) run.nodes.set(one.node, { status: "started", attempts: one.attempt, failures: one.failures, asks: one.asks });
    const refused = await parts.nodes.refuseInput(run);
    if (!isHeld(run)) return;
    run.begun = true;
    if (!goesOn(run)) { void settle(run, { kind: "cancel" }); return; }
    if (run.pausing?.how === "immediate") {
      holdBack(run, begun.map(({ node, attempt }) => ({ node, attempt: attempt - 1 })));
      void settle(run, { kind: "yield" });
      return;
    }
    if (refused !== undefined) { void settle(run, { kind: "refused", failure: toEnvelope(refused, { component: "input" }) }); return; }
    for (const one of begun) launch(run, { node: one.node, attempt: one.attempt - 1, continued: one.continued });
    if (begun.length > 0) armTimers(run);
    else void settle(run, { kind: "yield" });
  };

  return {
    begin, stop, heed,
    yieldIdle: () => {
      for (const run of [...held.byId.values()]) if (run.begun && run.executions.size === 0) void settle(run, { kind: "yield" });
    },
    idle: progress.idle,
  };
}

/** What a replay is answered from; an outage is outlasted while the run is held. */
async function recordOf(db: Queryable, run: HeldRun): Promise<NonNullable<HeldRun["recorded"]>> {
  const outcomes = await retryWhileAway(() => loadOutcomes(db, run.id), () => { if (!isHeld(run)) throw new Error("the run is no longer held"); });
  const ending = outcomes.find(({ node, type }) => node === null && type.startsWith("run."));
  return {
    ofNode: new Map(outcomes.flatMap((outcome) => (outcome.node === null ? [] : [[outcome.node, outcome] as const]))),
    ...(ending === undefined ? {} : { ending }),
  };
}

/** Remembers what the earlier holders left; waits count on from the database's clock. */
function recall(run: HeldRun, nodes: readonly LoadedNode[]): void {
  for (const node of nodes) {
    const memory: NodeMemory = {
      status: node.status as NodeStatus, attempts: node.attempts, failures: node.failures, asks: node.asks,
      ...(node.output === null || node.output === undefined ? {} : { output: node.output }),
      ...(node.dueMs === null ? {} : { dueAt: performance.now() + Math.max(0, node.dueMs), waitingOn: waitOf(node) }),
      ...(node.waitingEffect === null ? {} : { effectId: node.waitingEffect }),
    };
    run.nodes.set(node.node, memory);
    if (memory.output !== undefined) run.outputBytes += Buffer.byteLength(JSON.stringify(memory.output));
  }
}

/** Which effect it waits for is kept; whether it is to be asked about or watched, its next execution finds out. */
function waitOf({ status, waitingEffect }: LoadedNode): NonNullable<NodeMemory["waitingOn"]> {
  if (status === "retry") return "retry";
  return waitingEffect === null ? "timer" : "reconciliation";
}
