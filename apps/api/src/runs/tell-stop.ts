import type { StopAnswer } from "@mainstay/database";
import type { ApiParts } from "../server/parts.js";

/** Tells whoever listens that a run was asked to stop, or has ended; an ending is counted where it was committed. */
export function tellStop(stop: StopAnswer | { kind: "refused" }, { hint, metrics }: Pick<ApiParts, "hint" | "metrics">): void {
  if (stop.kind === "asked") hint("stop");
  if (stop.kind !== "ended") return;
  hint("log");
  metrics.runsFinished.inc({ workflow: metrics.workflowLabel(stop.workflowId), status: "cancelled", dead_lettered: "false" });
}
