import type { Sql } from "./sql.js";

/**
 * How often one attempt of a node began under one fence of its run: more than once is a double execution. A retry by
 * the same holder is another attempt.
 */
export type Execution = Readonly<{ runId: string; nodeId: string; fence: string; attempt: number; begun: number }>;

/** Node executions out of the stored events; a suspended execution that goes on under a new fence begins only once. */
export function readExecutions(sql: Sql): Promise<Execution[]> {
  return sql<Execution>(`select run_id as "runId", node_id as "nodeId", fence::text, (payload->>'attempt')::int as attempt,
      count(*)::int as begun
    from run_events where type = 'node.started' group by run_id, node_id, fence, payload->>'attempt'`);
}
