import { toEnvelope, type Disposition } from "@mainstay/domain";
import type { RecordedOutcome } from "@mainstay/database";
import type { HeldRun, Settlement } from "../runs/held-run.js";

/**
 * The end of a node of a replay that has reached an effect: the one its source recorded, never a new request. Nothing
 * recorded: `replay_source_missing`. A recorded failure is final, whatever its class: what came of its retries is known.
 */
export function answerFromRecord(run: HeldRun, node: string): Settlement {
  const outcome = run.recorded?.ofNode.get(node);
  if (outcome?.type === "node.completed") {
    const output = outcome.payload["outputs"] ?? null;
    const bytes = Buffer.byteLength(JSON.stringify(output));
    run.outputBytes += bytes;
    return { kind: "completed", node, output, bytes, durationMs: 0 };
  }
  const told = outcome?.type === "node.failed" ? detailsOf(outcome) : { code: "platform.replay_source_missing", disposition: "handler_error" as const };
  return {
    kind: "failed", node, retryAfterMs: 0, durationMs: 0, final: told.disposition,
    failure: toEnvelope(told.code, { app: run.workflow.document.failures, component: node }),
  };
}

function detailsOf({ payload }: RecordedOutcome): { code: string; disposition: Disposition } {
  const { details } = (payload["error"] ?? {}) as { details?: { code?: string; disposition?: Disposition } };
  return { code: details?.code ?? "platform.unclassified", disposition: details?.disposition ?? "handler_error" };
}
