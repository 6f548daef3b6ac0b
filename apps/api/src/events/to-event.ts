import { engineVersion, eventLogSchemaVersion, formatBoundId, type RunEvent } from "@mainstay/contract";
import type { EventRow } from "@mainstay/database";

/** One stored event as the wire shows it. Payloads are stored in the wire's words; ids in them are bound here. */
export function toEvent(row: EventRow, workspace: string, runId: string): RunEvent {
  const bound = formatBoundId(workspace, runId);
  const payload = row.type === "run.dead-lettered" ? { ...row.payload, runId: bound } : row.payload;
  return {
    eventId: row.eventId,
    runId: bound,
    type: row.type,
    payload,
    timestamp: row.at.toISOString(),
    sequence: row.sequence,
    schemaVersion: eventLogSchemaVersion,
    engineVersion,
    ...(row.nodeId === null ? {} : { nodeId: row.nodeId }),
  } as RunEvent;
}
