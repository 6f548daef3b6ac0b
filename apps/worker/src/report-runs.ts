import type { ClaimedRun, ProgressWrite } from "@mainstay/database";
import { classOfTrigger, type EffectClass } from "@mainstay/domain";
import { logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import type { HeldRun, Settlement } from "./runs/held-run.js";

/** Tells metrics and log what becomes of the runs of this process. */
export type ReportRuns = {
  claimed: (run: ClaimedRun) => void;
  /** One execution of a node came to its end. */
  executed: (run: HeldRun, settlement: Settlement) => void;
  /** A write was acknowledged; `paused`: that became of the run, instead of the write's move. */
  stored: (run: HeldRun, write: ProgressWrite, paused: boolean) => void;
  fenced: (op: string, runId?: string) => void;
  settled: (outcome: "confirmed" | "absent", effectClass: EffectClass) => void;
  contradicted: (effectId: string, runId: string) => void;
  asked: (effectId: string, runId: string) => void;
};

const endings: Readonly<Record<string, string | undefined>> = { complete: "completed", fail: "failed", cancel: "cancelled" };

export function createReportRuns({ logger, metrics }: { logger: Logger; metrics: Metrics }): ReportRuns {
  return {
    claimed: (run) => {
      const workflow = metrics.workflowLabel(run.workflowId);
      if (run.nodes.length > 0) metrics.attempts.inc({ workflow }, run.nodes.length);
      metrics.runQueueWait.observe({ workflow, status: run.statusBefore }, Math.max(0, run.waitedMs) / 1_000);
      const recovery = run.lostTrigger === null ? undefined : classOfTrigger(run.lostTrigger);
      if (recovery !== undefined && run.lostTrigger !== null && run.lostMs !== null) {
        metrics.recoveryInterval.observe({ class: recovery, trigger: run.lostTrigger }, run.lostMs / 1_000);
      }
      if (run.lostTrigger !== null || logger.writes("debug")) {
        logger[run.lostTrigger === null ? "debug" : "info"](logEvents.runClaimed, { runId: `${run.workspace}/${run.id}`, fence: run.fence, trigger: run.lostTrigger ?? "none" });
      }
    },
    executed: (run, settlement) => {
      if (settlement.kind !== "completed" && settlement.kind !== "failed") return;
      metrics.attemptDuration.observe({ workflow: metrics.workflowLabel(run.claimed.workflowId), status: settlement.kind }, settlement.durationMs / 1_000);
      if (settlement.kind === "completed") return;
      const { code, class: failureClass } = settlement.failure;
      logger.info(code === "platform.timeout" ? logEvents.nodeTimedOut : logEvents.nodeFailed, { runId: run.wireId, nodeId: settlement.node, code, class: failureClass });
    },
    stored: (run, write, paused) => {
      const workflow = metrics.workflowLabel(run.claimed.workflowId);
      const started = write.events.filter(({ type }) => type === "node.started").length;
      if (started > 0) metrics.attempts.inc({ workflow }, started);
      for (const { type, nodeId, payload } of write.events) {
        if (type !== "node.retried") continue;
        const failureClass = classOfFailure(payload["lastError"]);
        metrics.retries.inc({ class: failureClass });
        logger.info(logEvents.nodeRetried, { runId: run.wireId, nodeId: nodeId ?? "", class: failureClass, delayMs: Number(payload["delayMs"]) });
      }
      for (const letter of write.deadLetters) {
        metrics.deadLettersOpened.inc({ class: letter.class, disposition: letter.disposition });
        logger.warn(letter.disposition === "outcome_unknown" ? logEvents.effectUnknown : logEvents.runDeadLettered, {
          runId: run.wireId, scope: letter.scope, class: letter.class, code: letter.code, disposition: letter.disposition,
        });
      }
      const status = endings[write.move.kind];
      if (status === undefined || paused) return;
      metrics.runsFinished.inc({ workflow, status, dead_lettered: String(write.deadLetters.some(({ scope }) => scope === "run")) });
      metrics.runDuration.observe({ workflow, status }, (run.claimed.ageMs + performance.now() - run.heldSince) / 1_000);
      if (logger.writes("debug")) logger.debug(logEvents.runEnded, { runId: run.wireId, status });
    },
    fenced: (op, runId) => {
      metrics.fenceRejected.inc({ op });
      logger.warn(logEvents.fenced, { op, ...(runId === undefined ? {} : { runId }) });
    },
    settled: (_outcome, effectClass) => { metrics.effectsSettled.inc({ class: effectClass }); },
    contradicted: (effectId, runId) => { logger.error(logEvents.effectContradicted, { effectId, runId }); },
    asked: (effectId, runId) => { logger.info(logEvents.reconciliationAsked, { effectId, runId }); },
  };
}

/** Out of an error as the wire spells it. */
function classOfFailure(error: unknown): string {
  const { details } = (error ?? {}) as { details?: { class?: unknown } };
  return typeof details?.class === "string" ? details.class : "UNKNOWN";
}
