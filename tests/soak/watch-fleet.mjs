import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const hot = ["runs", "run_nodes", "run_events", "outbox", "effects", "incarnations", "lanes"];

/** Resident memory of a process in MiB; undefined when it has ended. */
function memoryOf(pid) {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024);
  } catch {
    return undefined;
  }
}

/** One look at what may grow: memory of the spared, sessions, oldest snapshot, dead rows and sizes of hot tables. */
async function sample({ fleet, spared, sql }) {
  const memory = Object.fromEntries(fleet.processes().filter(({ name }) => spared.has(name)).map(({ name, pid }) => [name, memoryOf(pid)]));
  const [db] = await sql(`select
    (select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'test') as sessions,
    (select coalesce(max(extract(epoch from now() - xact_start)) filter (where backend_xmin is not null and application_name <> 'test'), 0)::float8
      from pg_stat_activity where datname = current_database()) as "snapshotS",
    (select count(*)::int from outbox) as outbox, (select count(*)::int from incarnations) as incarnations,
    (select count(*)::int from runs where status not in ('completed', 'failed', 'cancelled')) as open`);
  const tables = await sql(`select relname as name, n_dead_tup::int as dead, n_live_tup::int as live, pg_table_size(relid)::float8 as bytes
    from pg_stat_user_tables where relname = any($1::text[])`, [hot]);
  return { at: Date.now(), memory, ...db, tables: Object.fromEntries(tables.map(({ name, ...sizes }) => [name, sizes])) };
}

/**
 * Runs that wait longer than anything allows: due and held by nobody for longer than `boundMs`, or held by an owner whose
 * heart has been still for longer. A run that was lost again waits by back-off, which moves its due time.
 */
export const overdue = (sql, boundMs) => sql(`select r.id, r.status, r.waiting_on as "waitingOn", r.lost_trigger as "lostTrigger",
    (extract(epoch from now() - greatest(r.due_at, coalesce(r.lost_at, r.due_at))) * 1000)::int as "waitedMs"
  from runs r where r.owner is null and r.status in ('pending', 'running', 'waiting-external') and r.stop_requested is null
    and r.cohort_limit is null and greatest(r.due_at, coalesce(r.lost_at, r.due_at)) < now() - $1::int * interval '1 millisecond'
  union all
  select r.id, r.status, 'held by the dead', i.lapsed_trigger, (extract(epoch from now() - i.beat_at) * 1000)::int
  from runs r join incarnations i on i.id = r.owner
  where r.owner is not null and i.beat_at < now() - $1::int * interval '1 millisecond' limit 20`, [boundMs]);

/** Looks every `everyMs` until told to stop. A look while Postgres is away, or right after, says nothing about bounds. */
export async function watchFleet({ fleet, spared, sql, boundMs, everyMs, outages, stopping, tell, tallies }) {
  const samples = [];
  while (!stopping.aborted) {
    await sleep(everyMs, undefined, { signal: stopping }).catch(() => undefined);
    try {
      const now = Date.now();
      const late = await overdue(sql, boundMs);
      const excused = outages.some(({ from, to }) => now >= from && now < to + boundMs + 5_000);
      if (!excused) for (const run of late) tallies.late.push(run);
      const seen = await sample({ fleet, spared, sql });
      samples.push(seen);
      tell(`${seen.open} open, ${seen.outbox} in the outbox, ${seen.sessions} sessions, ${seen.incarnations} incarnations, memory ${Object.values(seen.memory).join("/")} MiB, ${tallies.kills} kills, ${tallies.late.length} late`);
    } catch (error) {
      if (!outages.some(({ from, to }) => Date.now() >= from && Date.now() < to + 10_000)) throw error;
    }
  }
  return samples;
}
