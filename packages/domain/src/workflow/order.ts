import type { NodeDocument } from "./document.js";

/** What is wrong with a graph, naming where. */
export type GraphFault =
  | { fault: "no_nodes" }
  | { fault: "duplicate_node"; node: string }
  | { fault: "missing_dependency"; node: string; dependency: string }
  | { fault: "cycle"; path: string[] };

/** What is wrong with a graph, or `undefined`. A cycle is named by its path, first node repeated at the end. */
export function findGraphFault(nodes: readonly Pick<NodeDocument, "id" | "after">[]): GraphFault | undefined {
  if (nodes.length === 0) return { fault: "no_nodes" };
  const byId = new Map<string, readonly string[]>();
  for (const node of nodes) {
    if (byId.has(node.id)) return { fault: "duplicate_node", node: node.id };
    byId.set(node.id, node.after);
  }
  for (const node of nodes) {
    const dependency = node.after.find((id) => !byId.has(id));
    if (dependency !== undefined) return { fault: "missing_dependency", node: node.id, dependency };
  }
  const open = new Map(nodes.map((node) => [node.id, new Set(node.after)]));
  const followers = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const [id, after] of open) for (const dependency of after) followers.get(dependency)?.push(id);
  const free = [...open].filter(([, after]) => after.size === 0).map(([id]) => id);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    open.delete(id);
    for (const follower of followers.get(id) ?? []) {
      const after = open.get(follower);
      after?.delete(id);
      if (after?.size === 0) free.push(follower);
    }
  }
  const [first] = open.keys();
  return first === undefined ? undefined : { fault: "cycle", path: walkCycle(first, byId, open) };
}

function walkCycle(start: string, byId: ReadonlyMap<string, readonly string[]>, open: ReadonlyMap<string, unknown>): string[] {
  const path = new Set([start]);
  for (let at = start;;) {
    const next = byId.get(at)?.find((id) => open.has(id));
    const walked = [...(next === undefined || path.has(next) ? path : [])];
    if (next === undefined) return walked;
    if (path.has(next)) return [...walked.slice(walked.indexOf(next)), next];
    path.add(next);
    at = next;
  }
}
