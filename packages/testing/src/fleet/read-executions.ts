import type { Sql } from "./sql.js";

/** How often a node began under one fence of its run. More than once is a double execution. */
export type Execution = Readonly<{ runId: string; nodeId: string; fence: string; begun: number }>;

/** Node executions out of the stored events; a suspended execution that goes on under a new fence begins only once. */
export function readExecutions(sql: Sql): Promise<Execution[]> {
  return sql<Execution>(`select run_id as "runId", node_id as "nodeId", fence::text, count(*)::int as begun
    from run_events where type = 'node.started' group by run_id, node_id, fence`);
}
