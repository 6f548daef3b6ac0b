import { expect } from "vitest";
import type { ChaosFleet } from "./start-chaos-fleet.js";

/** Waits until the runs have ended and expects each to have completed; what failed is shown with its error. */
export async function expectCompleted(chaos: ChaosFleet, runIds: Iterable<string>, withinMs?: number): Promise<void> {
  const ended = await chaos.waitEnded([...runIds], withinMs);
  const others = [...ended].filter(([, status]) => status !== "completed").map(([runId]) => runId.slice(runId.indexOf("/") + 1));
  const shown = others.length === 0 ? [] : await chaos.sql(
    `select r.id, r.status, r.error, r.attempts_seen from (
       select r.id, r.status, r.error, (select jsonb_agg(e.payload order by e.seq) from run_events e where e.run_id = r.id and e.type in ('node.retried', 'lease.lost', 'node.started')) as attempts_seen
       from runs r) r where r.id = any($1::uuid[])`, [others]);
  expect(shown).toEqual([]);
}
