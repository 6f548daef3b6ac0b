import type { CaseFleet } from "../lane/define-case.js";

/** One wait that was over: how long it was to be and how long it was, in milliseconds of the database's clock. */
export type Wait = Readonly<{ runId: string; what: string; dueMs: number; tookMs: number }>;

/** Every timer and every retry of the node attempts that came after one, out of the stored logs. */
export function readWaits(fleet: CaseFleet): Promise<Wait[]> {
  return fleet.sql<Wait>(
    `select e.run_id::text as "runId", e.type || ' ' || e.node_id as what,
       case e.type when 'node.retried' then (e.payload->>'delayMs')::float8 else (r.input->>'parkMs')::float8 end as "dueMs",
       (extract(epoch from n.at - e.at) * 1000)::float8 as "tookMs"
     from run_events e join runs r on r.id = e.run_id
     cross join lateral (
       select at from run_events n where n.run_id = e.run_id and n.node_id = e.node_id and n.seq > e.seq
         and n.type = case e.type when 'node.retried' then 'node.started' else 'node.completed' end
       order by n.seq limit 1
     ) n
     where e.type = 'node.retried' or (e.type = 'node.started' and e.node_id = 'park')`);
}

/** Instants in the log outside of what the database's clock showed meanwhile, and durations that are none. */
export async function readOddTimes(fleet: CaseFleet, { from, most }: { from: Date; most: number }): Promise<readonly string[]> {
  const instants = await fleet.sql<{ what: string }>(
    `select place || ' ' || at as what from (
       select 'created' as place, created_at as at from runs union all select 'started', started_at from runs union all select 'finished', finished_at from runs
       union all select type, at from run_events union all select 'beat', beat_at from incarnations union all select 'begun', started_at from incarnations
     ) stored where at not between $1::timestamptz - interval '1 s' and now() + interval '1 s'`, [from]);
  const durations = await fleet.sql<{ what: string }>(
    `select type || ' lasted ' || (payload->>'durationMs') as what from run_events
     where payload ? 'durationMs' and (payload->>'durationMs')::float8 not between 0 and $1`, [most]);
  const texts = await Promise.all(fleet.fleet.processes().filter((one) => one.exit() === undefined).map(async ({ name, url }) => ({ name, text: await (await fetch(`${url}/metrics`)).text() })));
  const sums = texts.flatMap(({ name, text }) => [...text.matchAll(/^(mainstay_\w+_seconds)_sum(\S*) (\S+)$/gm)].flatMap(([, metric = "", labels = "", sum]) => {
    const count = Number(text.split("\n").find((line) => line.startsWith(`${metric}_count${labels} `))?.split(" ").at(-1));
    return Number(sum) < 0 || Number(sum) > (count * most) / 1_000 ? [`${name}: ${metric}${labels} has sum ${String(sum)} of ${String(count)}`] : [];
  }));
  return [...instants.map(({ what }) => what), ...durations.map(({ what }) => what), ...sums];
}
