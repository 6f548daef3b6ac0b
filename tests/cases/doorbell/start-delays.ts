import type { CaseFleet } from "../lane/define-case.js";

/** Milliseconds from acceptance to `run.started` of each of these runs, by the database's clock, in ascending order. */
export async function startDelays(fleet: CaseFleet, runIds: readonly string[]): Promise<number[]> {
  const rows = await fleet.sql<{ ms: number }>(
    `select (extract(epoch from e.at - r.created_at) * 1000)::float8 as ms from runs r join run_events e on e.run_id = r.id and e.type = 'run.started'
     where r.id = any($1::uuid[]) order by 1`, [runIds.map((id) => id.slice(id.lastIndexOf("/") + 1))]);
  return rows.map(({ ms }) => ms);
}
