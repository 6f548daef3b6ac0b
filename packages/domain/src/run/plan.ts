import type { NodeDocument } from "../workflow/document.js";

/** Where one node of one run stands. */
export type NodeStatus = "started" | "suspended" | "retry" | "completed" | "failed" | "skipped" | "cancelled";

/** What is known of one node of one run; a node without a state has not begun. */
export type NodeState = { status: NodeStatus };

/** What the planner decided. */
export type Plan =
  /** `start` may be empty: others of the run are still under way. */
  | { kind: "go_on"; start: string[]; skip: string[]; open: string[] }
  | { kind: "complete"; skip: string[] }
  | { kind: "fail"; node: string; skip: string[] };

const settledWell = (status: NodeStatus | undefined) => status === "completed";
const settled = (status: NodeStatus | undefined) =>
  status === "completed" || status === "failed" || status === "skipped" || status === "cancelled";

/**
 * State in, ready nodes out. A node is ready once all it stands after have completed; a node after a failed or
 * skipped one is skipped. A required node's failure fails the run; an optional one's does not.
 *
 * `open` names what the run still waits for: ready or begun, not settled. It is never empty in `go_on`.
 */
export function plan(nodes: readonly NodeDocument[], states: ReadonlyMap<string, NodeState>): Plan {
  const now = new Map<string, NodeStatus>();
  for (const [id, { status }] of states) now.set(id, status);
  const failed = nodes.find((node) => now.get(node.id) === "failed" && !node.optional);
  const skip: string[] = [];
  for (let changed = true; changed;) {
    changed = false;
    for (const node of nodes) {
      if (now.has(node.id) || !node.after.some((id) => now.get(id) === "failed" || now.get(id) === "skipped")) continue;
      now.set(node.id, "skipped");
      skip.push(node.id);
      changed = true;
    }
  }
  if (failed !== undefined) return { kind: "fail", node: failed.id, skip };
  const start = nodes.filter((node) => !now.has(node.id) && node.after.every((id) => settledWell(now.get(id)))).map(({ id }) => id);
  const open = nodes.filter(({ id }) => start.includes(id) || (now.has(id) && !settled(now.get(id)))).map(({ id }) => id);
  return open.length === 0 ? { kind: "complete", skip } : { kind: "go_on", start, skip, open };
}

/** The nodes a fresh run begins with. */
export const firstNodes = (nodes: readonly NodeDocument[]): string[] =>
  nodes.filter((node) => node.after.length === 0).map(({ id }) => id);

/** The run's outputs: those of its last nodes; of a single last node its output itself when that is an object. */
export function outputsOf(nodes: readonly NodeDocument[], outputs: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const inner = new Set(nodes.flatMap((node) => node.after));
  const last = nodes.filter((node) => !inner.has(node.id) && outputs.has(node.id));
  const [only] = last;
  if (last.length === 1 && only !== undefined) {
    const output = outputs.get(only.id);
    if (typeof output === "object" && output !== null && !Array.isArray(output)) return output as Record<string, unknown>;
  }
  return Object.fromEntries(last.map((node) => [node.id, outputs.get(node.id) ?? null]));
}
