import type { NodeDocument } from "../workflow/document.js";
import { plan, type NodeState } from "./plan.js";

/** What rebuilding reads of one event of a log. */
export type LoggedEvent = { type: string; nodeId?: string; sequence: number };

/** One node as a stretch of a log leaves it. */
export type RebuiltNode = {
  node: string;
  /** `retry`: begun and not settled well, to be begun again. */
  status: "retry" | "completed" | "failed" | "skipped";
  attempts: number;
  failures: number;
  /** The event that settled it: its output, or its error, stands there. */
  settledBy?: number;
};

/**
 * The nodes of a run as the events before a fork point leave them, and what is open then, in the document's order. A
 * node that was begun and not settled is begun again; so is a required one that had failed, since the run's ending is
 * what the fork is to execute anew.
 */
export function rebuild(document: readonly NodeDocument[], events: readonly LoggedEvent[]): { nodes: RebuiltNode[]; open: string[] } {
  const nodes = new Map<string, RebuiltNode>();
  const optional = new Map(document.map((node) => [node.id, node.optional]));
  for (const { type, nodeId, sequence } of events) {
    if (nodeId === undefined || !optional.has(nodeId)) continue;
    const before = nodes.get(nodeId) ?? { node: nodeId, status: "retry", attempts: 0, failures: 0 };
    const settled = (status: RebuiltNode["status"], failures = before.failures) => { nodes.set(nodeId, { ...before, status, failures, settledBy: sequence }); };
    if (type === "node.started") nodes.set(nodeId, { node: nodeId, status: "retry", attempts: before.attempts + 1, failures: before.failures });
    else if (type === "node.retried") nodes.set(nodeId, { ...before, failures: before.failures + 1 });
    else if (type === "node.completed") settled("completed");
    else if (type === "node.skipped") settled("skipped");
    else if (type === "node.failed" && optional.get(nodeId) === true) settled("failed", before.failures + 1);
  }
  const states = new Map<string, NodeState>([...nodes].map(([id, { status }]) => [id, { status }]));
  const next = plan(document, states);
  return { nodes: [...nodes.values()], open: next.kind === "go_on" ? next.open : [] };
}
