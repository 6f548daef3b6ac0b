import {
  engineVersion, eventLogSchemaVersion, formatBoundId, type Configurable, type Owner, type RunError, type RunSnapshot,
  type RunStatus,
} from "@mainstay/contract";
import type { RunRow } from "@mainstay/database";

/** One run of a workspace as the wire shows it. */
export function toSnapshot(row: RunRow & { currentNodeId?: string | null }, workspace: string): RunSnapshot {
  return {
    runId: formatBoundId(workspace, row.id),
    workflowId: row.workflowId,
    status: row.status as RunStatus,
    owner: { tenant: workspace, subject: row.subject as Owner["subject"] },
    eventLogSchemaVersion,
    engineVersion,
    ...(row.currentNodeId === undefined || row.currentNodeId === null ? {} : { currentNodeId: row.currentNodeId }),
    ...(row.status === "failed" && row.error !== null ? { error: row.error as RunError } : {}),
    ...(row.configurable === null ? {} : { configurable: row.configurable as Configurable }),
    ...(row.tags === null ? {} : { tags: row.tags }),
    ...(row.metadata === null ? {} : { metadata: row.metadata }),
    ...(row.startedAt === null ? {} : { startedAt: row.startedAt.toISOString() }),
    ...(row.finishedAt === null ? {} : { completedAt: row.finishedAt.toISOString() }),
    ...(row.parentRunId === null ? {} : { parentRunId: formatBoundId(workspace, row.parentRunId) }),
  };
}
