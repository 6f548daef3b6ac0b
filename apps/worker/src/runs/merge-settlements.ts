import { randomUUID } from "node:crypto";
import {
  backoffMs, decide, failureClasses, fingerprintOf, outputsOf, plan, reasonOf, toEnvelope, toWireError,
  type Disposition, type FailureEnvelope, type NodeDocument, type Verdict,
} from "@mainstay/domain";
import type { NewDeadLetter, NewEvent, NodeWrite, ProgressWrite } from "@mainstay/database";
import { sha256 } from "../effects/digest.js";
import { noteDivergence } from "./note-divergence.js";
import { isExecuting, type HeldRun, type NodeMemory, type Settlement } from "./held-run.js";

export type MergeSettings = { retentionDays: number; jitter: () => number; holdShortWaitsMs: number; resultMaxBytes: number; draining: () => boolean };

/** A write and what the holder does once it is acknowledged. */
export type MergedWrite = { write: ProgressWrite; start: { node: string; attempt: number; continued: boolean }[]; answered: boolean; mergedAt: number };

/** A failure that the engine gave up on. */
type Buried = { failure: FailureEnvelope; disposition: Disposition; node?: string; effectIds?: readonly string[] };

type Draft = { run: HeldRun; events: NewEvent[]; touched: Map<string, Record<string, unknown> | undefined>; deadLetters: NewDeadLetter[] };

/**
 * Makes one write of everything that ended meanwhile in one run: settles nodes in the holder's memory, asks the planner
 * what is ready, and decides on the one move. Called once per write; the memory is ahead of the database until the
 * write is answered, and the run is dropped when it is refused.
 */
export function mergeSettlements(run: HeldRun, settlements: readonly Settlement[], settings: MergeSettings): MergedWrite {
  const draft: Draft = { run, events: [], touched: new Map(), deadLetters: [] };
  let checkpoint = false;
  let ended: Buried | undefined;
  const due: string[] = [];
  for (const settlement of settlements) {
    switch (settlement.kind) {
      case "completed":
        settleCompleted(draft, settlement);
        checkpoint = true;
        break;
      case "failed": {
        const buried = settleFailed(draft, settlement, settings);
        if (buried !== undefined && ended === undefined) ended = buried;
        break;
      }
      case "suspended":
        settleSuspended(draft, settlement);
        break;
      case "due":
        // told twice, or overtaken by an execution: only what still waits is due
        if (isWaiting(run.nodes.get(settlement.node)) && !due.includes(settlement.node)) due.push(settlement.node);
        break;
      case "refused":
        ended ??= { failure: settlement.failure, disposition: settlement.failure.class === "UNKNOWN" ? "outcome_unknown" : "handler_error" };
        break;
      case "cancel":
        return cancelled(draft);
      case "yield":
        break;
    }
  }
  if (ended !== undefined) return buried(draft, ended, settings);

  const { nodes } = run.workflow.document;
  const next = plan(nodes, run.nodes);
  for (const id of next.skip) {
    run.nodes.set(id, { status: "skipped", attempts: 0, failures: 0, asks: 0 });
    draft.touched.set(id, undefined);
    draft.events.push({ type: "node.skipped", nodeId: id, payload: { nodeId: id, reason: "a node it stands after did not complete" } });
  }
  if (next.kind === "fail") throw new Error(`run ${run.id}: node ${next.node} failed without a verdict`);
  if (next.kind === "complete") {
    const outputs = new Map([...run.nodes].filter(([, memory]) => memory.status === "completed").map(([id, memory]) => [id, memory.output]));
    const result = outputsOf(nodes, outputs);
    const bytes = run.outputBytes > settings.resultMaxBytes ? Buffer.byteLength(JSON.stringify(result)) : 0;
    if (bytes > settings.resultMaxBytes) {
      const attributes = { limit: "the outputs of a run's last nodes", limitBytes: settings.resultMaxBytes, bytes };
      return buried(draft, { failure: toEnvelope("platform.data_limit_exceeded", { component: "outputs", attributes }), disposition: "handler_error" }, settings);
    }
    draft.events.push({ type: "run.completed", payload: { outputs: result } });
    return toWrite(draft, { checkpoint: true, move: { kind: "complete", outputs: result }, start: [] });
  }
  return goOn(draft, { ready: next.start, due, open: next.open, checkpoint, settings });
}

function goOn(
  draft: Draft,
  { ready, due, open, checkpoint, settings }: { ready: string[]; due: string[]; open: string[]; checkpoint: boolean; settings: MergeSettings },
): MergedWrite {
  const { run } = draft;
  const nextNodes = open.map((id) => ({ id, typeId: documentOf(run, id).typeId }));
  if (run.pausing !== undefined && !run.stopping) {
    // what is under way finishes, nothing new begins; the statement pauses only while that is asked for
    const { interrupted } = run.pausing;
    const pause = { kind: "pause", ...(interrupted === undefined ? {} : { interrupted }) } as const;
    return toWrite(draft, { checkpoint, move: isExecuting(run) ? { kind: "hold" } : pause, start: [], nextNodes });
  }
  if (settings.draining() || run.stopping) {
    // nothing new begins here: at the last checkpoint in flight the run goes to a peer, or its cancel ends it
    if (isExecuting(run) || run.stopping) return toWrite(draft, { checkpoint, move: { kind: "hold" }, start: [], nextNodes });
    return toWrite(draft, { checkpoint, nextNodes, start: [], move: { kind: "park", status: "running", waitingOn: "dispatch", reason: "drain", dueMs: 0, inboxSeq: run.inboxSeq } });
  }
  const start = [...ready, ...due.filter((id) => !ready.includes(id))].map((id) => begin(draft, id));
  if (isExecuting(run) || start.length > 0) return toWrite(draft, { checkpoint, move: { kind: "hold" }, start, nextNodes });

  const waits = open.map((id) => run.nodes.get(id)).filter((memory) => memory?.dueAt !== undefined);
  const first = waits.reduce((least, memory) => ((memory?.dueAt ?? Infinity) < (least?.dueAt ?? Infinity) ? memory : least), waits[0]);
  const dueMs = Math.max(0, (first?.dueAt ?? performance.now()) - performance.now());
  const waitingOn = first?.waitingOn ?? "dispatch";
  if (dueMs <= settings.holdShortWaitsMs) return toWrite(draft, { checkpoint, move: { kind: "hold" }, start: [], nextNodes });
  const outside = waitingOn === "reconciliation" || waitingOn === "effect";
  return toWrite(draft, {
    checkpoint, nextNodes, start: [],
    move: {
      kind: "park", status: outside ? "waiting-external" : "running", waitingOn, dueMs, inboxSeq: run.inboxSeq,
      ...(first?.effectId === undefined ? {} : { effectId: first.effectId }),
    },
  });
}

/** The attempt is counted, and told, before the code runs. A suspended attempt goes on under its number. */
function begin({ run, events, touched }: Draft, id: string): { node: string; attempt: number; continued: boolean } {
  const earlier = run.nodes.get(id);
  const continued = earlier?.status === "suspended";
  const attempts = (earlier?.attempts ?? 0) + (continued ? 0 : 1);
  run.nodes.set(id, { status: "started", attempts, failures: earlier?.failures ?? 0, asks: earlier?.asks ?? 0 });
  touched.set(id, undefined);
  if (!continued) events.push({ type: "node.started", nodeId: id, payload: { nodeId: id, typeId: documentOf(run, id).typeId, attempt: attempts - 1 } });
  return { node: id, attempt: attempts - 1, continued };
}

function settleCompleted({ run, events, touched }: Draft, { node, output, durationMs }: Extract<Settlement, { kind: "completed" }>): void {
  const memory = memoryOf(run, node);
  run.nodes.set(node, { status: "completed", attempts: memory.attempts, failures: memory.failures, asks: memory.asks, output });
  touched.set(node, undefined);
  events.push({ type: "node.completed", nodeId: node, payload: { nodeId: node, outputs: output ?? null, durationMs: Math.round(durationMs) } });
}

function settleSuspended({ run, touched }: Draft, { node, waitingOn, dueMs, asks, effectId }: Extract<Settlement, { kind: "suspended" }>): void {
  const memory = memoryOf(run, node);
  run.nodes.set(node, {
    status: "suspended", attempts: memory.attempts, failures: memory.failures, asks, waitingOn,
    dueAt: performance.now() + dueMs, ...(effectId === undefined ? {} : { effectId }),
  });
  touched.set(node, undefined);
}

function settleFailed(
  draft: Draft, { node, failure, retryAfterMs, durationMs, effectIds, final }: Extract<Settlement, { kind: "failed" }>, settings: MergeSettings,
): Buried | undefined {
  const { run, events, touched } = draft;
  const document = documentOf(run, node);
  const memory = memoryOf(run, node);
  const failures = memory.failures + 1;
  const entry = { attempt: memory.attempts - 1, incarnation: run.owner, fence: run.fence, class: failure.class, code: failure.code, message: failure.message, durationMs: Math.round(durationMs) };
  const verdict: Verdict = final === undefined ? decide(failure, { failures, maxRetries: document.retry.maxRetries }) : { verb: "bury", disposition: final };
  if (verdict.verb === "retry") {
    const delayMs = backoffMs(failures, { baseMs: document.retry.baseMs, jitter: settings.jitter(), rateLimited: failure.code === "platform.rate_limited", retryAfterMs });
    run.nodes.set(node, { status: "retry", attempts: memory.attempts, failures, asks: 0, waitingOn: "retry", dueAt: performance.now() + delayMs });
    touched.set(node, entry);
    events.push({ type: "node.retried", nodeId: node, payload: { nodeId: node, attempt: memory.attempts, delayMs, lastError: toWireError(failure) } });
    return undefined;
  }
  run.nodes.set(node, { status: "failed", attempts: memory.attempts, failures, asks: memory.asks });
  touched.set(node, entry);
  const given: Buried = { failure, disposition: verdict.disposition, node, ...(effectIds === undefined ? {} : { effectIds }) };
  if (!document.optional) return given;
  events.push({ type: "node.failed", nodeId: node, payload: { nodeId: node, error: toWireError(failure, verdict.disposition), attempts: Math.max(1, memory.attempts) } });
  draft.deadLetters.push(toDeadLetter(draft, { ...given, scope: "node", settings }));
  return undefined;
}

/** `node.failed` → `run.dead-lettered` → `run.failed`, all in the statement that ends the run. */
function buried(draft: Draft, ended: Buried, settings: MergeSettings): MergedWrite {
  const { run, events } = draft;
  const open = openBeside(run, ended);
  const told = open === undefined ? ended : { failure: toEnvelope("platform.effect_outcome_unconfirmed", { component: open }), disposition: "outcome_unknown" as const, node: open };
  const attemptsOf = (node: string | undefined) => Math.max(1, node === undefined ? run.claimed.claims : memoryOf(run, node).attempts);
  closeOpenNodes(draft, "the run failed", ended.node);
  if (ended.node !== undefined) {
    events.push({ type: "node.failed", nodeId: ended.node, payload: { nodeId: ended.node, error: toWireError(ended.failure, ended.disposition), attempts: attemptsOf(ended.node) } });
  }
  const error = toWireError(told.failure, told.disposition);
  const letter = toDeadLetter(draft, { ...told, scope: "run", settings });
  draft.deadLetters.push(letter);
  const where = told.node === undefined ? {} : { nodeId: told.node };
  events.push({ type: "run.dead-lettered", ...where, payload: { runId: run.wireId, ...where, reason: letter.reason, attempts: attemptsOf(told.node) } });
  events.push({ type: "run.failed", payload: { error, ...(told.node === undefined ? {} : { failedNodeId: told.node }) } });
  return toWrite(draft, { checkpoint: false, start: [], move: { kind: "fail", error, ...(told.node === undefined ? {} : { failedNode: told.node }) } });
}

/**
 * The effect-window rule stands above the failure that ends the run: a node beside it whose unsafe effect is launched
 * and not settled makes the run UNKNOWN.
 */
function openBeside(run: HeldRun, ended: Buried): string | undefined {
  if (ended.failure.class === "UNKNOWN") return undefined;
  const sending = [...run.executions.values()].find(({ openUnsafe }) => openUnsafe.size > 0);
  if (sending !== undefined) return sending.nodeId;
  return [...run.nodes].find(([, { status, waitingOn }]) => status === "suspended" && waitingOn === "reconciliation")?.[0];
}

function cancelled(draft: Draft): MergedWrite {
  closeOpenNodes(draft, "the run was cancelled");
  draft.events.push({ type: "run.cancelled", payload: {} }); // the statement adds who asked, and why
  return toWrite(draft, { checkpoint: false, start: [], move: { kind: "cancel" } });
}

function closeOpenNodes({ run, events, touched }: Draft, reason: string, except?: string): void {
  for (const [id, memory] of run.nodes) {
    if (id === except || !["started", "suspended", "retry"].includes(memory.status)) continue;
    run.nodes.set(id, { status: "cancelled", attempts: memory.attempts, failures: memory.failures, asks: memory.asks });
    touched.set(id, undefined);
    events.push({ type: "node.cancelled", nodeId: id, payload: { nodeId: id, reason } });
  }
}

function toDeadLetter(
  { run, touched }: Draft,
  { failure, disposition, node, effectIds, scope, settings }: Buried & { scope: "run" | "node"; settings: MergeSettings },
): NewDeadLetter {
  const memory = node === undefined ? undefined : memoryOf(run, node);
  const attempts = Math.max(1, memory?.attempts ?? run.claimed.claims);
  const { firstState, nextAction } = failureClasses[failure.class];
  return {
    scope, failure: { ...failure }, class: failure.class, code: failure.code, disposition, attempts,
    fingerprint: sha256(fingerprintOf(failure)), reason: reasonOf(failure, disposition, { attempts, failures: memory?.failures ?? 0 }),
    lastAttempt: (node === undefined ? undefined : touched.get(node)) ?? { incarnation: run.owner, fence: run.fence, class: failure.class, code: failure.code, message: failure.message },
    handler: `${run.claimed.workflowId}@${run.workflow.document.version}`, state: firstState, nextAction, retentionDays: settings.retentionDays,
    ...(node === undefined ? {} : { nodeId: node }), ...(effectIds === undefined ? {} : { effectIds }),
  };
}

function toWrite(
  { run, events, touched, deadLetters }: Draft,
  { checkpoint, move, start, nextNodes }: { checkpoint: boolean; move: ProgressWrite["move"]; start: MergedWrite["start"]; nextNodes?: { id: string; typeId: string }[] },
): MergedWrite {
  const nodes = [...touched].map(([node, history]): NodeWrite => {
    const memory = memoryOf(run, node);
    return {
      node, status: memory.status, attempts: memory.attempts, failures: memory.failures, asks: memory.asks,
      ...(memory.dueAt === undefined ? {} : { dueMs: Math.max(0, Math.ceil(memory.dueAt - performance.now())) }),
      ...(memory.status === "suspended" && memory.effectId !== undefined ? { effectId: memory.effectId } : {}),
      ...(memory.status === "completed" ? { output: memory.output ?? null } : {}),
      ...(history === undefined ? {} : { history, error: { class: history["class"], code: history["code"], message: history["message"] } }),
    };
  });
  const write: ProgressWrite = {
    runId: run.id, owner: run.owner, fence: run.fence, writeId: randomUUID(), nodes, events: noteDivergence(run, events), checkpoint, move, deadLetters,
    ...(nextNodes === undefined ? {} : { nextNodes }),
  };
  return { write, start, answered: false, mergedAt: performance.now() };
}

const isWaiting = (memory: NodeMemory | undefined): boolean => memory?.status === "suspended" || memory?.status === "retry";

function memoryOf(run: HeldRun, node: string): NodeMemory {
  const memory = run.nodes.get(node);
  if (memory === undefined) throw new Error(`run ${run.id}: node ${node} settles without having begun`);
  return memory;
}

function documentOf(run: HeldRun, node: string): NodeDocument {
  const document = run.workflow.byId.get(node);
  if (document === undefined) throw new Error(`run ${run.id}: ${run.claimed.workflowId} has no node ${node}`);
  return document;
}
