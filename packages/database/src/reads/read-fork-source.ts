import type { LoggedEvent } from "@mainstay/domain";
import type { Database } from "../database.js";
import { statement } from "../statement.js";
import { wireStatus } from "./run-columns.js";

/** What a fork needs to know of its source: its definition, and the log below the fork point without payloads. */
export type ForkSource = { status: string; ended: boolean; workflowId: string; specHash: string; eventCount: number; events: LoggedEvent[] };

const source = statement<Omit<ForkSource, "events"> & { events: { type: string; nodeId: string | null; sequence: number }[] }>("reads.fork_source", `
select ${wireStatus} as status, r.finished_at is not null as ended, r.workflow_id as "workflowId", r.spec_hash as "specHash",
  r.event_seq as "eventCount", coalesce((
    select jsonb_agg(jsonb_build_object('type', e.type, 'nodeId', e.node_id, 'sequence', e.seq) order by e.seq)
    from run_events e where e.run_id = r.id and e.seq < $2::int), '[]') as events
from runs r where r.id = $1::uuid`);

/** One run of a workspace as a source of forks at `fromSeq`; `undefined`: unknown, or of another workspace. */
export async function readForkSource(db: Database, workspace: string, asked: { runId: string; fromSeq: number }): Promise<ForkSource | undefined> {
  const [row] = await db.read(workspace, (transaction) => transaction.query(source, [asked.runId, asked.fromSeq]));
  return row && {
    ...row,
    events: row.events.map(({ type, nodeId, sequence }) => ({ type, sequence, ...(nodeId === null ? {} : { nodeId }) })),
  };
}
