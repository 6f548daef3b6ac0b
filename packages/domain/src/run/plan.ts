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
  const skip = toSkip(nodes, states);
  const skipped = new Set(skip);
  const failed = nodes.find(({ id, optional }) => !optional && states.get(id)?.status === "failed");
  if (failed !== undefined) return { kind: "fail", node: failed.id, skip };
  const start: string[] = [];
  const open: string[] = [];
  for (const { id, after } of nodes) {
    const status = states.get(id)?.status;
    if (status === undefined ? skipped.has(id) || !after.every((before) => settledWell(states.get(before)?.status)) : settled(status)) continue;
    if (status === undefined) start.push(id);
    open.push(id);
  }
  return open.length === 0 ? { kind: "complete", skip } : { kind: "go_on", start, skip, open };
}

/** What stands behind a failed or a skipped node, near or far, in an order in which each follows its reason. */
function toSkip(nodes: readonly NodeDocument[], states: ReadonlyMap<string, NodeState>): string[] {
  const lost = new Set<string>();
  for (const [id, { status }] of states) if (status === "failed" || status === "skipped") lost.add(id);
  const skip: string[] = [];
  for (let changed = lost.size > 0; changed;) {
    changed = false;
    for (const { id, after } of nodes) {
      if (states.has(id) || lost.has(id) || !after.some((before) => lost.has(before))) continue;
      lost.add(id);
      skip.push(id);
      changed = true;
    }
  }
  return skip;
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
