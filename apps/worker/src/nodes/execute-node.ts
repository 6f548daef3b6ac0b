import { resolveConfig, toEnvelope, type FailureEnvelope, type NodeDocument } from "@mainstay/domain";
import { WorkflowFailure, toFailureCode, type Done, type NodeRun } from "@mainstay/sdk";
import type { Execution, HeldRun, Settlement } from "../runs/held-run.js";
import { answerFromRecord } from "../effects/answer-from-record.js";
import { FromRecord, OutcomeUnknown, Suspended } from "../effects/interrupts.js";
import { cleanText, recordable } from "./recordable.js";
import { retryAfterOf } from "./retry-after-of.js";
import { nodeTypes, runCode } from "./node-types.js";
import type { NodeParts } from "./node-parts.js";

class NodeTimeout extends Error {}

/**
 * Executes one node once and says how it ended; `undefined` when the execution was cut short (cancel, fence, drain):
 * then nothing of it is recorded. The attempt has been counted before.
 */
export async function executeNode(
  parts: NodeParts, run: HeldRun, { node: nodeId, attempt, continued }: { node: string; attempt: number; continued: boolean },
): Promise<Settlement | undefined> {
  const document = run.workflow.byId.get(nodeId);
  if (document === undefined) throw new Error(`run ${run.id}: no node ${nodeId}`);
  const execution: Execution = { nodeId, attempt, abort: new AbortController(), over: false, openUnsafe: new Map(), usedKeys: new Set() };
  run.executions.set(nodeId, execution);
  const began = performance.now();
  const elapsed = () => performance.now() - began;
  try {
    const { value: output, bytes } = recordable(await withTimeout(execution, document.timeoutMs, () => runNode(parts, { run, document, execution, continued })), parts.outputMaxBytes);
    const allBytes = run.outputBytes + bytes;
    if (allBytes > parts.runOutputMaxBytes) throw new WorkflowFailure("platform.data_limit_exceeded", { attributes: { limit: "all outputs of a run", limitBytes: parts.runOutputMaxBytes, bytes: allBytes } });
    if (isOver(execution, run)) return undefined;
    if (execution.interrupt !== undefined || execution.openUnsafe.size > 0) throw execution.interrupt ?? new OutcomeUnknown([...execution.openUnsafe.keys()]);
    finish(execution, run);
    run.outputBytes = allBytes;
    return { kind: "completed", node: nodeId, output, bytes, durationMs: elapsed() };
  } catch (caught) {
    if (isOver(execution, run)) return undefined;
    const thrown = execution.interrupt ?? caught;
    finish(execution, run);
    execution.abort.abort(thrown);
    if (thrown instanceof FromRecord) return answerFromRecord(run, nodeId);
    const waits = thrown instanceof Suspended ? thrown : toAsk(execution);
    if (waits !== undefined) {
      return { kind: "suspended", node: nodeId, waitingOn: waits.waitingOn, dueMs: waits.dueMs, asks: waits.asks, ...(waits.effectId === undefined ? {} : { effectId: waits.effectId }) };
    }
    try {
      const failure = toFailure(parts, { thrown, execution, run, document });
      const effectIds = thrown instanceof OutcomeUnknown ? { effectIds: thrown.effectIds } : {};
      return { ...failed(nodeId, failure, { durationMs: elapsed(), retryAfterMs: retryAfterOf(thrown) }), ...effectIds };
    } catch {
      return failed(nodeId, toEnvelope("platform.unclassified", { component: document.id }), { durationMs: elapsed(), retryAfterMs: 0 }); // even to look at it throws
    }
  }
}

/** However the attempt ended: while all its open effects can be asked about, they are, after the quiet instant. */
function toAsk({ openUnsafe }: Execution): Suspended | undefined {
  const open = [...openUnsafe];
  const [first] = open;
  if (first === undefined || !open.every(([, effect]) => effect.canAsk)) return undefined;
  const quietAt = Math.max(...open.map(([, effect]) => effect.quietAt));
  return new Suspended({ waitingOn: "reconciliation", dueMs: Math.max(1, quietAt - performance.now()), asks: 0, effectId: first[0] });
}

const isOver = (execution: Execution, run: HeldRun) => execution.over || run.dropped;

function finish(execution: Execution, run: HeldRun): void {
  execution.over = true;
  if (run.executions.get(execution.nodeId) === execution) run.executions.delete(execution.nodeId);
}

const failed = (node: string, failure: FailureEnvelope, times: { durationMs: number; retryAfterMs: number }): Extract<Settlement, { kind: "failed" }> =>
  ({ kind: "failed", node, failure, ...times });

/** The effect-window rule stands above what was thrown. */
function toFailure(parts: NodeParts, { thrown, execution, run, document }: { thrown: unknown; execution: Execution; run: HeldRun; document: NodeDocument }): FailureEnvelope {
  const detail = WorkflowFailure.is(thrown) ? thrown.detail : {};
  const about = {
    app: run.workflow.document.failures, component: shortText(detail.component) ?? document.id, attributes: flatFacts(detail.attributes),
    ...(detail.operation === undefined ? {} : { operation: shortText(detail.operation) ?? "" }),
  };
  if (thrown instanceof OutcomeUnknown || execution.openUnsafe.size > 0) return toEnvelope("platform.effect_outcome_unconfirmed", about);
  const code = thrown instanceof NodeTimeout ? "platform.timeout" : toFailureCode(thrown);
  const failure = toEnvelope(code, { ...about, cause: causesOf(thrown) });
  if (failure.code === "platform.unclassified") {
    parts.onUnclassified(run.claimed.workflowId);
    parts.log("warn", "node.unclassified", { runId: run.wireId, nodeId: document.id, errorName: thrown instanceof Error ? thrown.name : typeof thrown });
  }
  return failure;
}

/** Names and machine codes only: a thrown text may carry a payload or a secret. */
function causesOf(thrown: unknown): { code?: string; message: string }[] {
  const causes: { code?: string; message: string }[] = [];
  let current: unknown = thrown;
  while (typeof current === "object" && current !== null && causes.length < 8) {
    const { name, code, cause }: { name?: unknown; code?: unknown; cause?: unknown } = current;
    causes.push({ message: typeof name === "string" && /^\w{1,60}$/.test(name) ? name : "Error", ...(typeof code === "string" && /^[\w.]{1,80}$/.test(code) ? { code } : {}) });
    if (cause === current) break;
    current = cause;
  }
  return causes;
}

/** So much of a text, and so many facts, stand in a failure. */
const MOST_LETTERS = 200;
const MOST_FACTS = 20;

const shortText = (text: unknown): string | undefined => (typeof text === "string" ? cleanText(text.slice(0, MOST_LETTERS)) : undefined);

/** What code said of its failure, as far as it is flat and can be recorded. */
function flatFacts(attributes: unknown): Record<string, string | number | boolean> {
  if (typeof attributes !== "object" || attributes === null) return {};
  return Object.fromEntries(Object.entries(attributes).slice(0, MOST_FACTS).flatMap(([name, value]: [string, unknown]): [string, string | number | boolean][] => {
    const plain = typeof value === "string" ? shortText(value) : typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)) ? value : undefined;
    return plain === undefined ? [] : [[cleanText(name.slice(0, MOST_LETTERS)), plain]];
  }));
}

async function withTimeout<Value>(execution: Execution, timeoutMs: number, act: () => Value | Promise<Value>): Promise<Value> {
  const aborted = new Promise<never>((_, reject) => {
    execution.abort.signal.addEventListener("abort", () => { reject(execution.abort.signal.reason instanceof Error ? execution.abort.signal.reason : new Error("aborted")); }, { once: true });
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    if (timeoutMs > 0) timer = setTimeout(() => { reject(new NodeTimeout()); }, timeoutMs);
  });
  aborted.catch(() => undefined);
  try {
    return await Promise.race([(async () => act())(), late, aborted]);
  } finally {
    clearTimeout(timer);
  }
}

function runNode(
  parts: NodeParts, { run, document, execution, continued }: { run: HeldRun; document: NodeDocument; execution: Execution; continued: boolean },
): unknown {
  const code = run.workflow.workflow?.code[document.id];
  const nodeRun = toNodeRun(run);
  const mapped = code?.input?.(doneOf(run), nodeRun);
  if (code?.run !== undefined) return runCode(parts, { run, execution, nodeRun, run_: code.run, input: code.input === undefined ? run.claimed.input : mapped });
  const type = nodeTypes.get(document.typeId);
  if (type === undefined) throw new Error(`run ${run.id}: this worker has no node type ${document.typeId}`);
  const over = typeof mapped === "object" && mapped !== null ? (mapped as Record<string, unknown>) : {};
  const config = { ...resolveConfig(document.config, run.claimed.input), ...over };
  return type({ parts, run, execution, config, continued, failures: run.nodes.get(document.id)?.failures ?? 0, previous: previousOf(run, document) });
}

function toNodeRun({ wireId, claimed, workflow }: HeldRun): NodeRun {
  return {
    id: wireId, workspace: claimed.workspace, workflowId: claimed.workflowId, workflowVersion: workflow.document.version,
    input: claimed.input, tags: claimed.tags ?? [], metadata: claimed.metadata ?? {},
  };
}

const doneOf = (run: HeldRun): Done =>
  Object.fromEntries([...run.nodes].filter(([, memory]) => memory.status === "completed").map(([id, memory]) => [id, memory.output]));

/** What a node without a mapping passes on: its predecessor's output, or the run's input where it has none. */
function previousOf(run: HeldRun, document: NodeDocument): unknown {
  const [first] = document.after;
  return first === undefined ? run.claimed.input : run.nodes.get(first)?.output;
}
