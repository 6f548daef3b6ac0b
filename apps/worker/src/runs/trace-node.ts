import type { Tracing } from "@mainstay/telemetry";
import type { HeldRun, Settlement } from "./held-run.js";

/** Runs one execution of a node within its span; without tracing, just runs it. */
export function traceNode(
  tracing: Tracing | undefined, run: HeldRun,
  { node, attempt, act }: { node: string; attempt: number; act: () => Promise<Settlement | undefined> },
): Promise<Settlement | undefined> {
  if (tracing === undefined || run.trace === undefined) return act();
  const span = tracing.node(run.trace, { runId: run.wireId, nodeId: node, typeId: run.workflow.byId.get(node)?.typeId ?? "unknown", attempt });
  return span.within(act).then(
    (settlement) => {
      span.end({ outcome: settlement?.kind ?? "cut_short", ...(settlement?.kind === "failed" ? { errorType: settlement.failure.code } : {}) });
      return settlement;
    },
    (error: unknown) => {
      span.end({ errorType: "defect" });
      throw error;
    },
  );
}
