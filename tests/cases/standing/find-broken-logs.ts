import type { Watched } from "./watched.js";

/** Logs that are not dense from 0, and runs whose terminal event is missing, doubled, another one, or not the last. */
export async function findBrokenLogs({ fleet }: Watched): Promise<readonly string[]> {
  const rows = await fleet.sql<{ id: string; status: string; events: number; last: number; ends: string[]; endSeq: number }>(
    `with logs as (
       select r.id, r.status, count(e.*)::int as events, max(e.seq) as last, min(e.seq) as first,
         coalesce(array_agg(e.type) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')), '{}') as ends,
         max(e.seq) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')) as "endSeq"
       from runs r left join run_events e on e.run_id = r.id group by r.id
     )
     select * from logs where events <> last + 1 or first <> 0
       or case when status in ('completed', 'failed', 'cancelled') then ends <> array['run.' || status] or "endSeq" <> last else ends <> '{}' end`,
  );
  return rows.map((row) => `${row.id} is ${row.status}: ${row.events} events up to ${row.last}, ended by ${row.ends.join(", ") || "none"} at ${row.endSeq}`);
}
