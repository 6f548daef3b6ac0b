/**
 * A run's status as the wire shows it: a requested stop of a live run reads `cancelling` or `paused` at once, made
 * state by the holder's next write. Of the row `r`.
 */
export const wireStatus = `case
  when r.status in ('completed', 'failed', 'cancelled') or r.stop_requested is null then r.status
  when r.stop_requested = 'cancel' then 'cancelling'
  else 'paused' end`;

/** The columns of a snapshot, of the row `r`. */
export const snapshotColumns = `
  r.id, r.workflow_id as "workflowId", ${wireStatus} as status, r.subject, r.event_seq as "eventCount",
  r.error, r.configurable, r.tags, r.metadata, r.started_at as "startedAt", r.finished_at as "finishedAt",
  coalesce(r.forked_from, r.replay_of) as "parentRunId"`;

/** One run as a reader sees it. */
export type RunRow = {
  /** The uuid, unbound. */
  id: string;
  workflowId: string;
  status: string;
  subject: Record<string, unknown>;
  /** Events in the log: the last sequence is one less. */
  eventCount: number;
  error: Record<string, unknown> | null;
  configurable: Record<string, unknown> | null;
  tags: string[] | null;
  metadata: Record<string, unknown> | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  parentRunId: string | null;
};
