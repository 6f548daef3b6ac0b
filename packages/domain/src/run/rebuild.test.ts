import { expect, test } from "vitest";
import type { NodeDocument } from "../workflow/document.js";
import { rebuild, type LoggedEvent } from "./rebuild.js";

const node = (id: string, after: string[] = [], optional = false): NodeDocument =>
  ({ id, typeId: "core.noop", after, retry: { maxRetries: 1, baseMs: 1 }, timeoutMs: 0, optional, config: {} });
const chain = [node("a"), node("b", ["a"]), node("c", ["b"])];
const log = (...types: [string, string?][]): LoggedEvent[] =>
  types.map(([type, nodeId], sequence) => ({ type, sequence, ...(nodeId === undefined ? {} : { nodeId }) }));
const whole = log(["lease.acquired"], ["run.started"], ["node.started", "a"], ["node.retried", "a"], ["node.started", "a"], ["node.completed", "a"],
  ["node.started", "b"], ["node.completed", "b"], ["node.started", "c"], ["node.completed", "c"], ["run.completed"]);

test("before the first event nothing has begun, and the first nodes are open", () => {
  expect(rebuild(chain, [])).toEqual({ nodes: [], open: ["a"] });
});

test("what was completed stays so with the event that says it, and what stands after it is open", () => {
  expect(rebuild(chain, whole.slice(0, 6))).toEqual({ nodes: [{ node: "a", status: "completed", attempts: 2, failures: 1, settledBy: 5 }], open: ["b"] });
});

test("a node that was begun and not settled is begun again", () => {
  expect(rebuild(chain, whole.slice(0, 7)).nodes[1]).toEqual({ node: "b", status: "retry", attempts: 1, failures: 0 });
  expect(rebuild(chain, whole.slice(0, 7)).open).toEqual(["b"]);
});

test("at its last event a completed run has nothing open: its ending is decided anew", () => {
  expect(rebuild(chain, whole.slice(0, -1)).open).toEqual([]);
});

test("within the ending of a failed run the node that ended it is open again; an optional one that failed stays failed", () => {
  const failed = log(["node.started", "a"], ["node.failed", "a"], ["run.dead-lettered", "a"]);
  expect(rebuild(chain, failed)).toEqual({ nodes: [{ node: "a", status: "retry", attempts: 1, failures: 0 }], open: ["a"] });
  const optional = [node("a", [], true), node("b")];
  expect(rebuild(optional, failed).nodes).toEqual([{ node: "a", status: "failed", attempts: 1, failures: 1, settledBy: 1 }]);
  expect(rebuild(optional, failed).open).toEqual(["b"]);
});
