import { until } from "@mainstay/testing";
import { expect } from "vitest";
import type { ChaosFleet } from "./start-chaos-fleet.js";

const bare = (runId: string): string => runId.slice(runId.indexOf("/") + 1);

/**
 * What holds after every case, whatever was broken on the way: one end per run and nothing after it, a dense log under
 * fences that only rise, no attempt of a node begun twice, no order accepted twice outside, nothing left in the
 * outbox, no run charged with an effect that is not there, no process ended but those the case ended.
 */
export async function checkStanding(chaos: ChaosFleet, runIds: readonly string[], deaths: Readonly<Record<string, number>> = {}): Promise<void> {
  await checkLogs(chaos, runIds.map(bare));
  await checkExecutions(chaos);
  await checkOutside(chaos);
  await until("the outbox to empty", async () => {
    const [row] = await chaos.sql<{ rows: number }>("select count(*)::int as rows from outbox");
    return row?.rows === 0;
  });
  expect(await chaos.sql("select id, open_effects from runs where status = 'completed' and open_effects <> 0")).toEqual([]);
  expect(chaos.fleet.deaths()).toEqual(deaths);
  const crashes = chaos.fleet.processes().flatMap((one) => one.lines().filter(({ event }) => event?.["msg"] === "process crashed").map(({ text }) => `${one.name}: ${text}`));
  expect(crashes).toEqual([]);
}

async function checkLogs(chaos: ChaosFleet, ids: readonly string[]): Promise<void> {
  const rows = await chaos.sql<{ id: string }>(
    `with logs as (
       select r.id, r.status, count(e.*) as events, max(e.seq) as last, count(*) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')) as ends,
         max(e.seq) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')) as end_seq
       from runs r left join run_events e on e.run_id = r.id where r.id = any($1::uuid[]) group by r.id
     ), falling as (
       select distinct run_id from (
         select run_id, type, fence, lag(fence) over (partition by run_id order by seq) as before from run_events where run_id = any($1::uuid[])
       ) f where fence < before or (type = 'lease.acquired' and fence <= before)
     )
     select l.id, l.status, l.ends, f.run_id as falling from logs l left join falling f on f.run_id = l.id
     where l.status not in ('completed', 'failed', 'cancelled') or l.ends <> 1 or l.events <> l.last + 1 or l.end_seq <> l.last or f.run_id is not null`,
    [ids],
  );
  expect(rows).toEqual([]);
  const [known] = await chaos.sql<{ runs: number }>("select count(*)::int as runs from runs where id = any($1::uuid[])", [ids]);
  expect(known?.runs).toBe(new Set(ids).size);
}

async function checkExecutions(chaos: ChaosFleet): Promise<void> {
  const stored = await chaos.executions();
  expect(stored.filter(({ begun }) => begun > 1)).toEqual([]);
  const attempts = stored.map(({ runId, nodeId, attempt }) => `${runId} ${nodeId} ${attempt}`);
  expect(attempts.length).toBe(new Set(attempts).size); // no attempt began again under another fence
  // what the code itself wrote: once per fence and attempt; a suspended attempt goes on under a later fence
  const known = new Set(attempts);
  const seen = new Map<string, number>();
  for (const { runId, nodeId, fence, attempt } of chaos.begun()) {
    expect(known).toContain(`${bare(runId)} ${nodeId} ${attempt}`);
    const name = `${bare(runId)} ${nodeId} ${attempt} under ${fence}`;
    seen.set(name, (seen.get(name) ?? 0) + 1);
  }
  expect([...seen].filter(([, times]) => times > 1)).toEqual([]);
}

async function checkOutside(chaos: ChaosFleet): Promise<void> {
  const accepted = chaos.receiver.accepted();
  expect([...accepted].filter(([, times]) => times > 1)).toEqual([]);
  const charged = await chaos.sql<{ key: string }>("select input->>'businessKey' as key from runs where workflow_id = 'chaos-order' and status = 'completed'");
  expect(charged.filter(({ key }) => accepted.get(key) !== 1)).toEqual([]);
  const bodies = new Map<string, string>();
  for (const { key, digest } of chaos.receiver.ledger().filter(({ method }) => method !== "GET")) {
    expect(bodies.get(key) ?? digest).toBe(digest);
    bodies.set(key, digest);
  }
}
