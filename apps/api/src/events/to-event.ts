import { engineVersion, eventLogSchemaVersion, formatBoundId, type RunEvent } from "@mainstay/contract";
import type { EventRow } from "@mainstay/database";

/** One stored event as the wire shows it. Payloads are stored in the wire's words, ids in them bound: an inherited one
 * tells of the run it was written for. */
export function toEvent(row: EventRow, workspace: string, runId: string): RunEvent {
  const bound = formatBoundId(workspace, runId);
  return {
    eventId: row.eventId,
    runId: bound,
    type: row.type,
    payload: row.payload,
    timestamp: row.at.toISOString(),
    sequence: row.sequence,
    schemaVersion: eventLogSchemaVersion,
    engineVersion,
    ...(row.nodeId === null ? {} : { nodeId: row.nodeId }),
  } as RunEvent;
}
