import type { Sql } from "./sql.js";

/** One stored event of a run. `fence` is a bigint as text. */
export type StoredEvent = Readonly<{
  seq: number;
  type: string;
  nodeId: string | null;
  fence: string;
  at: Date;
  payload: Readonly<Record<string, unknown>>;
}>;

/** The log of a run as it is stored, oldest first. */
export function readLog(sql: Sql, runId: string): Promise<StoredEvent[]> {
  return sql<StoredEvent>(`select seq, type, node_id as "nodeId", fence::text, at, payload from run_events where run_id = $1 order by seq`, [runId]);
}
