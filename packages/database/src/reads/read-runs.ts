import type { Database } from "../database.js";
import { statement } from "../statement.js";
import { snapshotColumns, wireStatus, type RunRow } from "./run-columns.js";

/** Which runs to list, newest first. `before` is the id of the last run of the page before; ids rise with time. */
export type RunFilter = { limit: number; before?: string; workflowId?: string; status?: string };

const runs = statement<RunRow>("reads.runs", `
select ${snapshotColumns}
from runs r
where r.workspace = $1::text and ($2::uuid is null or r.id < $2::uuid) and ($3::text is null or r.workflow_id = $3::text)
  and ($4::text is null or ${wireStatus} = $4::text)
order by r.id desc
limit $5::int`, { plan: "custom" });

/** One page of a workspace's runs. Filters are exact; `status` is the one the wire shows. */
export function readRuns(db: Database, workspace: string, filter: RunFilter): Promise<RunRow[]> {
  return db.read(workspace, (transaction) => transaction.query(runs, [
    workspace, filter.before ?? null, filter.workflowId ?? null, filter.status ?? null, filter.limit,
  ]));
}
