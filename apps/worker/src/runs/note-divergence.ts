import type { NewEvent, RecordedOutcome } from "@mainstay/database";
import { digestOf } from "../effects/digest.js";
import type { HeldRun } from "./held-run.js";

/**
 * The events of a write of a replay, each outcome that differs from its source's followed by `replay.diverged` (preceded,
 * where it ends the run). Compared are the ends of nodes, wherever they stand in the log, and the run's own: leases and
 * repeats shift sequences without meaning anything. A cancel is an operator's, and no divergence.
 */
export function noteDivergence(run: HeldRun, events: readonly NewEvent[]): NewEvent[] {
  const { recorded } = run;
  if (recorded === undefined) return [...events];
  return events.flatMap((event) => {
    const ends = event.type === "run.completed" || event.type === "run.failed";
    if (!ends && !["node.completed", "node.failed", "node.skipped"].includes(event.type)) return [event];
    const original = ends ? recorded.ending : recorded.ofNode.get(event.nodeId ?? "");
    const kind = differs(event, original);
    if (kind === undefined) return [event];
    const told: NewEvent = {
      type: "replay.diverged",
      payload: {
        sourceRunId: `${run.claimed.workspace}/${run.claimed.forkedFrom ?? ""}`, atSequence: (original ?? recorded.ending)?.seq ?? 0,
        ...(original === undefined ? {} : { originalEventId: original.eventId }), divergenceKind: kind, divergencePoint: event.nodeId ?? "run",
      },
    };
    return ends ? [told, event] : [event, told];
  });
}

function differs({ type, payload }: NewEvent, original: RecordedOutcome | undefined): string | undefined {
  if (original === undefined) return "not-recorded";
  if (original.type !== type) return "event-type";
  if (type === "node.completed" && digestOf(payload["outputs"]) !== digestOf(original.payload["outputs"])) return "outputs";
  if (type === "node.failed" && codeOf(payload) !== codeOf(original.payload)) return "error";
  return undefined;
}

const codeOf = (payload: Readonly<Record<string, unknown>>): unknown => (payload["error"] as { code?: unknown } | undefined)?.code;
