import type { Database } from "../database.js";
import { statement } from "../statement.js";
import { snapshotColumns, type RunRow } from "./run-columns.js";

const run = statement<RunRow & { currentNodeId: string | null }>("reads.run", `
select ${snapshotColumns}, (
  select n.node_id from run_nodes n
  where n.run_id = r.id and n.status in ('started', 'suspended', 'retry')
  order by n.started_at desc, n.node_id limit 1
) as "currentNodeId"
from runs r where r.id = $1::uuid`);

/** One run of a workspace, or `undefined`: unknown and foreign look the same under row-level security. */
export async function readRun(
  db: Database,
  workspace: string,
  runId: string,
): Promise<(RunRow & { currentNodeId: string | null }) | undefined> {
  const [row] = await db.read(workspace, (transaction) => transaction.query(run, [runId]));
  return row;
}
