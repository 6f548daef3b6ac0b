import type { Bench } from "./open-bench.js";

/**
 * What stands in the database against the laws of every run: dense sequences, one terminal event and it is the last,
 * fences that strictly rise, counters equal to what the log tells, a way on for whatever has not ended.
 */
export async function brokenLaws({ sql }: Bench): Promise<string[]> {
  const rows = await sql<{ law: string; run: string }>(`
    with log as (
      select r.id, r.status, r.event_seq, r.claims, r.fence, count(e.seq)::int as events, coalesce(max(e.seq), -1) as last,
        count(*) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled'))::int as endings,
        max(e.seq) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')) as ended_at,
        count(*) filter (where e.type = 'lease.acquired' and e.seq >= coalesce(r.fork_seq, 0))::int as acquired, -- what a fork inherits is its source's
        count(distinct e.fence) filter (where e.type = 'lease.acquired' and e.seq >= coalesce(r.fork_seq, 0))::int as fences,
        count(*) filter (where e.type = 'run.dead-lettered' and e.seq >= coalesce(r.fork_seq, 0))::int as letters_told
      from runs r left join run_events e on e.run_id = r.id group by r.id
    ), falling as (
      select run_id from (select run_id, fence, lag(fence) over (partition by run_id order by seq) as earlier from run_events) f
      where fence < earlier group by run_id
    ), twice as (
      select run_id from run_events where type = 'node.started' group by run_id, node_id, fence, payload->>'attempt' having count(*) > 1
    )
    select 'the sequences are not dense from 0' as law, id::text as run from log where events <> event_seq or last <> event_seq - 1
    union all select 'not exactly one terminal event for a terminal status', id::text from log
      where endings <> (status in ('completed', 'failed', 'cancelled'))::int
    union all select 'something stands after the terminal event', id::text from log where ended_at <> last
    union all select 'claims are not its lease.acquired events', id::text from log where claims <> acquired or fences <> acquired
    union all select 'a fence fell in the log', run_id::text from falling
    union all select 'an attempt began twice', run_id::text from twice
    union all select 'a run of status failed without its dead letter and event', l.id::text from log l
      where (l.status = 'failed')::int <> (select count(*) from dead_letters d where d.run_id = l.id and d.scope = 'run')
        or (l.status = 'failed')::int <> l.letters_told
    union all select 'open effects are not those of the ledger', r.id::text from runs r
      where r.status not in ('completed', 'failed', 'cancelled')
        and r.open_effects <> (select count(*) from effects e where e.run_id = r.id and e.state = 'launched' and e.class <> 'read_only')
    union all select 'it waits for nothing', r.id::text from runs r
      where r.owner is null and r.status in ('pending', 'running', 'waiting-external') and r.stop_requested is null
        and (r.waiting_on is null or r.due_at is null or r.sweep_at is null)`);
  return rows.map(({ law, run }) => `${run}: ${law}`);
}
