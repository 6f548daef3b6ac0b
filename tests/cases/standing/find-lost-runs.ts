import type { Watched } from "./watched.js";
import { settle } from "./settle.js";

/**
 * Accepted runs that nobody knows, and runs without an end, a live holder, a due time that is served or a named need. A run
 * whose owner has lapsed, or that is due for longer than every bound, is one.
 */
export function findLostRuns({ fleet, accepted, settleMs }: Watched): Promise<readonly string[]> {
  return settle(async () => {
    const ids = [...new Set(accepted().map((runId) => runId.slice(runId.indexOf("/") + 1)))];
    const unknown = await fleet.sql<{ id: string }>("select id from unnest($1::uuid[]) as given(id) where not exists (select from runs r where r.id = given.id)", [ids]);
    const stranded = await fleet.sql<{ id: string; status: string; why: string }>(
      `select r.id, r.status, case when r.owner is null then 'due since ' || r.due_at else 'held by the dead ' || r.owner end as why
       from runs r left join incarnations i on i.id = r.owner
       where r.status not in ('completed', 'failed', 'cancelled', 'paused')
         and case when r.owner is null then r.waiting_on is null and r.sweep_at < now() - interval '10 s'
             else i.id is null or i.lapsed_at is not null or i.ended_at is not null end`,
    );
    return [...unknown.map(({ id }) => `${id} was accepted and is not there`), ...stranded.map(({ id, status, why }) => `${id} is ${status}, ${why}`)];
  }, settleMs);
}
