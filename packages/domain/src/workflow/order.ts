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
  for (let removed = true; removed;) {
    removed = false;
    for (const [id, after] of open) {
      if ([...after].some((dependency) => open.has(dependency))) continue;
      open.delete(id);
      removed = true;
    }
  }
  const [first] = open.keys();
  return first === undefined ? undefined : { fault: "cycle", path: walkCycle(first, byId, open) };
}

function walkCycle(start: string, byId: ReadonlyMap<string, readonly string[]>, open: ReadonlyMap<string, unknown>): string[] {
  const path = [start];
  for (;;) {
    const next = byId.get(path.at(-1) ?? start)?.find((id) => open.has(id));
    if (next === undefined) return path;
    const seen = path.indexOf(next);
    if (seen >= 0) return [...path.slice(seen), next];
    path.push(next);
  }
}
