import type { NodeDocument } from "@mainstay/domain";
import { toEnvelope } from "@mainstay/domain";
import { expect, test } from "vitest";
import type { HeldRun, Settlement } from "./held-run.js";
import { mergeSettlements, type MergeSettings } from "./merge-settlements.js";

const settings: MergeSettings = { retentionDays: 30, jitter: () => 1, resultMaxBytes: 100, holdShortWaitsMs: 250, draining: () => false };

const node = (id: string, more: Partial<NodeDocument> = {}): NodeDocument =>
  ({ id, typeId: "core.noop", after: [], retry: { maxRetries: 1, baseMs: 1_000 }, timeoutMs: 0, optional: false, config: {}, ...more });

/** A run whose nodes of `started` are under way. */
function heldRun(nodes: readonly NodeDocument[], started: readonly string[]): HeldRun {
  const document = { id: "order", name: "order", version: "1", nodes, triggers: [], settings: {}, failures: {} };
  return {
    id: "01", wireId: "acme/01", fence: "1", owner: "me", heldSince: 0, inboxSeq: 4, writing: false, stopping: false, begun: true, unwritable: false, dropped: false, executions: new Map(), timers: new Map(), outputBytes: 0,
    claimed: { claims: 1, workflowId: "order" } as HeldRun["claimed"],
    workflow: { document, byId: new Map(nodes.map((one) => [one.id, one])) },
    nodes: new Map(started.map((id) => [id, { status: "started" as const, attempts: 1, failures: 0, asks: 0 }])),
  };
}

const completed = (id: string, output: unknown = {}): Settlement => ({ kind: "completed", node: id, output, bytes: JSON.stringify(output).length, durationMs: 1 });
const failed = (id: string, code = "platform.timeout"): Settlement => ({ kind: "failed", node: id, failure: toEnvelope(code), retryAfterMs: 0, durationMs: 1 });
const typesOf = ({ write }: ReturnType<typeof mergeSettlements>): string[] => write.events.map(({ type, nodeId }) => (nodeId === undefined ? type : `${type} ${nodeId}`));

test("all that ended meanwhile becomes one write with every node in it and the ending", () => {
  const names = Array.from({ length: 50 }, (_, i) => `n${i}`);
  const merged = mergeSettlements(heldRun(names.map((id) => node(id)), names), names.map((id) => completed(id, { id })), settings);
  expect(merged.write.nodes.map((one) => one.node)).toEqual(names);
  expect(typesOf(merged)).toEqual([...names.map((id) => `node.completed ${id}`), "run.completed"]);
  expect(merged.write).toMatchObject({ checkpoint: true, move: { kind: "complete", outputs: Object.fromEntries(names.map((id) => [id, { id }])) } });
});

test("outputs of last nodes that weigh too much together end the run once, as a payload that is larger than its limit", () => {
  const run = heldRun([node("a"), node("b")], ["a", "b"]);
  run.outputBytes = 120;
  const merged = mergeSettlements(run, [completed("a", "x".repeat(60)), completed("b", "x".repeat(60))], settings);
  expect(typesOf(merged)).toEqual(["node.completed a", "node.completed b", "run.dead-lettered", "run.failed"]);
  expect(merged.write).toMatchObject({ move: { kind: "fail", error: { code: "payload_too_large" } }, deadLetters: [{ code: "platform.data_limit_exceeded", disposition: "handler_error" }] });
});

test("a completed node's successors begin in the same write, their attempt counted before their code runs", () => {
  const merged = mergeSettlements(heldRun([node("a"), node("b", { after: ["a"] })], ["a"]), [completed("a")], settings);
  expect(typesOf(merged)).toEqual(["node.completed a", "node.started b"]);
  expect(merged.start).toEqual([{ node: "b", attempt: 0, continued: false }]);
  expect(merged.write.nodes).toMatchObject([{ node: "a", status: "completed" }, { node: "b", status: "started", attempts: 1 }]);
  expect(merged.write.move).toEqual({ kind: "hold" });
});

test("a failure within its bound waits without the holder, under the inbox it was planned on", () => {
  const merged = mergeSettlements(heldRun([node("a")], ["a"]), [failed("a")], settings);
  expect(typesOf(merged)).toEqual(["node.retried a"]);
  expect(merged.write).toMatchObject({ checkpoint: false, move: { kind: "park", status: "running", waitingOn: "retry", inboxSeq: 4 } });
  expect(merged.write.nodes).toMatchObject([{ status: "retry", attempts: 1, failures: 1 }]);
});

test("a failure at its bound ends the run in this write: node.failed, run.dead-lettered, run.failed, one dead letter", () => {
  const run = heldRun([node("a", { retry: { maxRetries: 0, baseMs: 1 } }), node("b")], ["a", "b"]);
  const merged = mergeSettlements(run, [failed("a")], settings);
  expect(typesOf(merged)).toEqual(["node.cancelled b", "node.failed a", "run.dead-lettered a", "run.failed"]);
  expect(merged.write.deadLetters).toMatchObject([{ scope: "run", nodeId: "a", class: "TRANSIENT", disposition: "retry_exhausted", attempts: 1, state: "RETRY_ELIGIBLE" }]);
  expect(merged.write.move).toMatchObject({ kind: "fail", failedNode: "a" });
});

test("a failure beside a node whose unsafe effect is open ends the run UNKNOWN, and the failed node is told with its own error", () => {
  const run = heldRun([node("a", { retry: { maxRetries: 0, baseMs: 1 } }), node("b")], ["a", "b"]);
  run.executions.set("b", { nodeId: "b", attempt: 0, abort: new AbortController(), over: false, openUnsafe: new Map([["effect", { canAsk: false, quietAt: 0 }]]), usedKeys: new Set() });
  const merged = mergeSettlements(run, [failed("a")], settings);
  expect(typesOf(merged)).toEqual(["node.cancelled b", "node.failed a", "run.dead-lettered b", "run.failed"]);
  expect(merged.write.events[1]?.payload).toMatchObject({ error: { details: { class: "TRANSIENT", disposition: "retry_exhausted" } } });
  expect(merged.write.deadLetters).toMatchObject([{ scope: "run", nodeId: "b", class: "UNKNOWN", disposition: "outcome_unknown", state: "RECONCILIATION_REQUIRED" }]);
});

test("a failure beside a node that waits for its reconciler ends the run UNKNOWN", () => {
  const run = heldRun([node("a", { retry: { maxRetries: 0, baseMs: 1 } }), node("b")], ["a", "b"]);
  mergeSettlements(run, [{ kind: "suspended", node: "b", waitingOn: "reconciliation", dueMs: 60_000, asks: 0, effectId: "e" }], settings);
  expect(mergeSettlements(run, [failed("a")], settings).write.deadLetters).toMatchObject([{ nodeId: "b", class: "UNKNOWN" }]);
});

test("an optional node's failure is a dead letter of the node, skips what stands after it, and the run completes", () => {
  const run = heldRun([node("a", { optional: true, retry: { maxRetries: 0, baseMs: 1 } }), node("b", { after: ["a"] })], ["a"]);
  const merged = mergeSettlements(run, [failed("a")], settings);
  expect(typesOf(merged)).toEqual(["node.failed a", "node.skipped b", "run.completed"]);
  expect(merged.write.deadLetters).toMatchObject([{ scope: "node", nodeId: "a" }]);
});

test("a cancel ends the run whatever else ended beside it", () => {
  const merged = mergeSettlements(heldRun([node("a"), node("b")], ["a", "b"]), [completed("a"), { kind: "cancel" }], settings);
  expect(typesOf(merged)).toEqual(["node.completed a", "node.cancelled b", "run.cancelled"]);
  expect(merged.write.move).toEqual({ kind: "cancel" });
});

test("UNKNOWN is buried at once, whatever retries are left", () => {
  const merged = mergeSettlements(heldRun([node("a", { retry: { maxRetries: 9, baseMs: 1 } })], ["a"]), [failed("a", "platform.effect_outcome_unconfirmed")], settings);
  expect(merged.write.deadLetters).toMatchObject([{ class: "UNKNOWN", disposition: "outcome_unknown", state: "RECONCILIATION_REQUIRED" }]);
});

test("on drain nothing new begins: the run goes to a peer at this checkpoint", () => {
  const run = heldRun([node("a"), node("b", { after: ["a"] })], ["a"]);
  const merged = mergeSettlements(run, [completed("a")], { ...settings, draining: () => true });
  expect(merged.start).toEqual([]);
  expect(merged.write).toMatchObject({ checkpoint: true, nextNodes: [{ id: "b" }], move: { kind: "park", status: "running", waitingOn: "dispatch", reason: "drain", dueMs: 0 } });
});

test("a suspended attempt goes on under its number when it is due", () => {
  const run = heldRun([node("a")], ["a"]);
  mergeSettlements(run, [{ kind: "suspended", node: "a", waitingOn: "timer", dueMs: 0, asks: 0 }], settings);
  const merged = mergeSettlements(run, [{ kind: "due", node: "a" }], settings);
  expect(merged.start).toEqual([{ node: "a", attempt: 0, continued: true }]);
  expect(typesOf(merged)).toEqual([]);
  expect(merged.write.nodes).toMatchObject([{ node: "a", status: "started", attempts: 1 }]);
});

test("a wait that is told due twice, or was overtaken by an execution, begins nothing a second time", () => {
  const run = heldRun([node("a"), node("b")], ["a", "b"]);
  mergeSettlements(run, [{ kind: "suspended", node: "a", waitingOn: "timer", dueMs: 0, asks: 0 }], settings);
  const both = mergeSettlements(run, [{ kind: "due", node: "a" }, { kind: "due", node: "a" }], settings);
  expect(both.start).toHaveLength(1);
  expect(mergeSettlements(run, [{ kind: "due", node: "a" }], settings).start).toEqual([]);
  mergeSettlements(run, [completed("a")], settings);
  const late = mergeSettlements(run, [{ kind: "due", node: "a" }], settings);
  expect([late.start, typesOf(late)]).toEqual([[], []]);
  expect(run.nodes.get("a")).toMatchObject({ status: "completed", attempts: 1 });
});
