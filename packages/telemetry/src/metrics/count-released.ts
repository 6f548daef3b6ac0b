import type { Metrics } from "./create-metrics.js";

/** What became of a run that was taken from its holder, or ended by a lane; `class` and `disposition` when it was buried. */
export type ReleasedFact = Readonly<{
  trigger: string; kind: string; status: string; workflowId: string; class: string | null; disposition: string | null;
}>;

/** Counts releases where they were committed: takeovers by trigger, endings, dead letters, crash limits. */
export function countReleased(
  metrics: Pick<Metrics, "takeovers" | "runsFinished" | "deadLettersOpened" | "crashLimit" | "workflowLabel">,
  released: readonly ReleasedFact[],
): void {
  for (const { trigger, kind, status, workflowId, class: failureClass, disposition } of released) {
    if (kind === "take_over" || kind === "suspect") metrics.takeovers.inc({ trigger });
    if (status !== "failed" && status !== "cancelled") continue;
    const workflow = metrics.workflowLabel(workflowId);
    metrics.runsFinished.inc({ workflow, status, dead_lettered: String(disposition !== null) });
    if (disposition === null) continue;
    metrics.deadLettersOpened.inc({ class: failureClass ?? "UNKNOWN", disposition });
    if (disposition === "crash_limit_exceeded") metrics.crashLimit.inc({ workflow });
  }
}
