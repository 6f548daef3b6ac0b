import fc from "fast-check";
import { expect, test } from "vitest";
import type { NodeDocument } from "../workflow/document.js";
import { firstNodes, outputsOf, plan, type NodeState, type NodeStatus } from "./plan.js";

const node = (id: string, after: string[] = [], optional = false): NodeDocument =>
  ({ id, typeId: "core.noop", after, retry: { maxRetries: 0, baseMs: 1 }, timeoutMs: 0, optional, config: {} });

/** Graphs without a cycle: a node stands after some of those before it. */
const graphs = fc.integer({ min: 1, max: 9 }).chain((size) =>
  fc.tuple(...Array.from({ length: size }, (_, i) => fc.record({ after: fc.subarray([...Array(i).keys()]), optional: fc.boolean() })))
    .map((nodes) => nodes.map(({ after, optional }, i) => node(`n${i}`, after.map((j) => `n${j}`), optional))));

const states = (entries: Record<string, NodeStatus>): Map<string, NodeState> => new Map(Object.entries(entries).map(([id, status]) => [id, { status }]));

/** Executes a graph to its end; `endOf` says how a node ends, `order` which of the begun nodes ends next. */
function execute(nodes: readonly NodeDocument[], endOf: (id: string) => "completed" | "failed", order: (begun: number) => number) {
  const now = new Map<string, NodeState>();
  const begun: string[] = [];
  const entries: string[] = [];
  for (let step = 0; step <= 3 * nodes.length; step++) {
    const next = plan(nodes, now);
    for (const id of next.skip) now.set(id, { status: "skipped" });
    if (next.kind !== "go_on") return { ending: next, entries, now };
    for (const id of next.start) {
      now.set(id, { status: "started" });
      begun.push(id);
      entries.push(id);
    }
    const [ended] = begun.splice(order(begun.length), 1);
    if (ended === undefined) throw new Error("the plan goes on, and nothing is under way");
    now.set(ended, { status: endOf(ended) });
  }
  throw new Error("the plan never ends");
}

test("every graph whose nodes complete completes, each node begun once and after all it stands after", () => {
  fc.assert(fc.property(graphs, fc.nat(), (nodes, seed) => {
    const { ending, entries } = execute(nodes, () => "completed", (begun) => seed % begun);
    expect(ending).toEqual({ kind: "complete", skip: [] });
    expect([...entries].sort()).toEqual(nodes.map(({ id }) => id).sort());
    for (const { id, after } of nodes) for (const earlier of after) expect(entries.indexOf(earlier)).toBeLessThan(entries.indexOf(id));
  }));
});

test("a required node's failure fails the run; an optional one's skips what stands after it, and the rest completes", () => {
  fc.assert(fc.property(graphs, fc.nat(), fc.nat(), (nodes, which, seed) => {
    const broken = nodes[which % nodes.length]!;
    const { ending, now } = execute(nodes, (id) => (id === broken.id ? "failed" : "completed"), (begun) => seed % begun);
    if (!broken.optional) {
      expect(ending).toMatchObject({ kind: "fail", node: broken.id });
      return;
    }
    expect(ending.kind).toBe("complete");
    const behind = new Set([broken.id]);
    for (const { id, after } of nodes) if (after.some((earlier) => behind.has(earlier))) behind.add(id);
    for (const { id } of nodes) expect(now.get(id)?.status).toBe(id === broken.id ? "failed" : behind.has(id) ? "skipped" : "completed");
  }));
});

test("while a plan goes on it names what it waits for, and never starts a node twice", () => {
  fc.assert(fc.property(graphs, fc.infiniteStream(fc.constantFrom<NodeStatus>("started", "suspended", "retry", "completed")), (nodes, choices) => {
    const now = new Map<string, NodeState>();
    for (const one of nodes) {
      if (!one.after.every((id) => now.get(id)?.status === "completed")) continue;
      now.set(one.id, { status: choices.next().value as NodeStatus });
    }
    const next = plan(nodes, now);
    if (next.kind !== "go_on") return;
    expect(next.open.length).toBeGreaterThan(0);
    for (const id of next.start) expect(now.has(id)).toBe(false);
    expect(next.open.filter((id) => now.get(id)?.status === "completed")).toEqual([]);
  }));
});

test("a fan-in starts when its last branch has completed, not before", () => {
  const nodes = [node("a"), node("b"), node("join", ["a", "b"])];
  expect(plan(nodes, states({ a: "completed", b: "started" }))).toEqual({ kind: "go_on", start: [], skip: [], open: ["b"] });
  expect(plan(nodes, states({ a: "completed", b: "completed" }))).toEqual({ kind: "go_on", start: ["join"], skip: [], open: ["join"] });
});

test("a run begins with the nodes that stand after none", () => {
  expect(firstNodes([node("b", ["a"]), node("a"), node("c")])).toEqual(["a", "c"]);
});

test("the outputs of a run are its last nodes', an object of a single one as it is", () => {
  const nodes = [node("a"), node("b", ["a"])];
  expect(outputsOf(nodes, new Map<string, unknown>([["a", 1], ["b", { total: 3 }]]))).toEqual({ total: 3 });
  expect(outputsOf(nodes, new Map<string, unknown>([["b", [1]]]))).toEqual({ b: [1] });
  expect(outputsOf([node("a"), node("b")], new Map<string, unknown>([["a", 1], ["b", undefined]]))).toEqual({ a: 1, b: null });
});
