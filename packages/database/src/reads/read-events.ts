import type { Database } from "../database.js";
import { statement } from "../statement.js";
import { wireStatus } from "./run-columns.js";

/** One event of a log. */
export type EventRow = {
  eventId: string;
  type: string;
  nodeId: string | null;
  payload: Record<string, unknown>;
  sequence: number;
  at: Date;
};

/** A stretch of one run's log, with the run as it stood in the same instant. */
export type EventPage = { status: string; eventCount: number; events: EventRow[] };

type Row = { status: string; eventCount: number } & { [Key in keyof EventRow]: EventRow[Key] | null };

const events = statement<Row>("reads.events", `
with recursive page as (
  (select e.event_id, e.type, e.node_id, e.payload, e.seq, e.at, octet_length(e.payload::text)::bigint as bytes, 1 as number
  from run_events e where e.run_id = $1::uuid and e.seq > $2::int order by e.seq limit 1)
  union all
  -- one by one, as numbers are dense: only what fits is made into text
  select e.event_id, e.type, e.node_id, e.payload, e.seq, e.at, p.bytes + octet_length(e.payload::text), p.number + 1
  from page p cross join lateral (
    select * from run_events n where n.run_id = $1::uuid and n.seq = p.seq + 1 limit 1 -- one look into the index a step, never a join of the whole log
  ) e
  where p.bytes < $4::int and p.number < $3::int
)
select ${wireStatus} as status, r.event_seq as "eventCount", e.event_id as "eventId", e.type, e.node_id as "nodeId",
  e.payload, e.seq as sequence, e.at
from runs r left join page e on true
where r.id = $1::uuid
order by e.seq`);

/**
 * The events after `after` (−1: from the start), in order, at most `limit`, and no further one once they weigh
 * `maxBytes`: a page holds less than that and one event. Its end is the end of the log only where it reaches
 * `eventCount`. Status and events are read in one statement: a terminal status never comes without its terminal event
 * in the log.
 *
 * @returns `undefined` for a run that is unknown or of another workspace.
 */
export async function readEvents(
  db: Database,
  workspace: string,
  asked: { runId: string; after: number; limit: number; maxBytes: number },
): Promise<EventPage | undefined> {
  const rows = await db.read(workspace, (transaction) =>
    transaction.query(events, [asked.runId, asked.after, asked.limit, asked.maxBytes]));
  const [first] = rows;
  if (first === undefined) return undefined;
  const found = rows.filter((row): row is Row & EventRow => row.eventId !== null);
  return {
    status: first.status,
    eventCount: first.eventCount,
    events: found.map(({ eventId, type, nodeId, payload, sequence, at }) => ({ eventId, type, nodeId, payload, sequence, at })),
  };
}
