import { PauseCut } from "../effects/interrupts.js";
import type { HeldRun, NodeMemory } from "./held-run.js";

/**
 * Ends what executes without a settlement: no event tells of it, and each node begins again, as a further attempt, when
 * the run goes on. A request that is on the wire stays there, its answer is evidence.
 */
export function cutRun(run: HeldRun): void {
  for (const execution of [...run.executions.values()].sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1))) {
    holdBack(run, [{ node: execution.nodeId, attempt: execution.attempt }]);
    execution.over = true;
    execution.abort.abort(new PauseCut("the run was paused"));
  }
  run.executions.clear();
}

/** The same for nodes that are told as begun and whose code has not been called; `attempt` from 0. */
export function holdBack(run: HeldRun, begun: readonly { node: string; attempt: number }[]): void {
  for (const { node, attempt } of begun) {
    if (run.pausing !== undefined) run.pausing.interrupted ??= { nodeId: node, attempt };
    const memory: NodeMemory | undefined = run.nodes.get(node);
    run.nodes.set(node, {
      status: "retry", attempts: attempt + 1, failures: memory?.failures ?? 0, asks: memory?.asks ?? 0, waitingOn: "retry", dueAt: performance.now(),
    });
  }
}
