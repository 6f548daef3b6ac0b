import { expect } from "vitest";
import { bare, type Noted, type Stage } from "./start-stage.js";

/**
 * What holds for all runs of a stage once they have ended, whatever was done to the workers: one end per run and nothing
 * after it, a dense log under fences that only rise, no attempt begun twice, no identity accepted twice outside and one
 * body per key, no run charged with an effect that is settled, no process ended but those the test ended.
 */
export async function checkStanding(stage: Stage, deaths: Readonly<Record<string, number>> = {}): Promise<void> {
  expect(await brokenLogs(stage)).toEqual([]);
  await checkExecutions(stage);
  checkOutside(stage);
  expect(await stage.sql("select id, open_effects from runs where status = 'completed' and open_effects <> 0")).toEqual([]);
  expect(await stage.sql("select id, contradictions from effects where contradictions > 0")).toEqual([]);
  expect(stage.fleet.deaths()).toEqual(deaths);
  const crashed = stage.fleet.processes().flatMap((one) => one.lines().filter(({ event }) => event?.["msg"] === "process crashed").map(({ text }) => `${one.name}: ${text}`));
  expect(crashed).toEqual([]);
}

/** Runs whose log is not dense from 0, lacks its one end, goes on after it, or whose fences fall. */
function brokenLogs({ sql }: Stage): Promise<unknown[]> {
  return sql(
    `with logs as (
       select r.id, r.status, r.event_seq, count(e.*) as events, max(e.seq) as last, min(e.seq) as first,
         count(*) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')) as ends,
         max(e.seq) filter (where e.type = 'run.' || r.status) as end_seq
       from runs r left join run_events e on e.run_id = r.id group by r.id
     ), falling as (
       select distinct run_id from (
         select run_id, type, fence, lag(fence) over (partition by run_id order by seq) as before from run_events
       ) f where fence < before or (type = 'lease.acquired' and fence <= before)
     )
     select l.*, f.run_id as falling from logs l left join falling f on f.run_id = l.id
     where l.status not in ('completed', 'failed', 'cancelled') or l.ends <> 1 or l.first <> 0 or l.events <> l.last + 1
       or l.event_seq <> l.events or l.end_seq is distinct from l.last or f.run_id is not null`);
}

async function checkExecutions(stage: Stage): Promise<void> {
  const stored = await stage.executions();
  expect(stored.filter(({ begun }) => begun > 1)).toEqual([]);
  const attempts = stored.map(({ runId, nodeId, attempt }) => `${runId} ${nodeId} ${attempt}`);
  expect(attempts.length).toBe(new Set(attempts).size); // no attempt began again under another fence
  const known = new Set(attempts);
  const unknown = stage.noted().filter(({ what, runId, nodeId, attempt }) => what === "began" && !known.has(`${bare(runId)} ${nodeId} ${attempt}`));
  expect(unknown).toEqual([]);
  expect(doubled(stage.noted())).toEqual([]);
}

/** Executions that the code itself saw begin twice under one fence. A suspended attempt may go on once it has left. */
function doubled(noted: readonly Noted[]): string[] {
  const last = new Map<string, Noted>();
  const twice: string[] = [];
  for (const line of noted.filter(({ what }) => what === "began" || what === "left")) {
    const name = `${bare(line.runId)} ${line.nodeId} fence ${line.fence} attempt ${line.attempt}`;
    const before = last.get(name);
    if (line.what === "began" && before !== undefined && before["by"] !== "Suspended") twice.push(name);
    last.set(name, line);
  }
  return twice;
}

function checkOutside({ receiver }: Stage): void {
  expect([...receiver.accepted()].filter(([, times]) => times > 1)).toEqual([]);
  const bodies = new Map<string, string>();
  for (const { key, digest } of receiver.ledger().filter(({ method }) => method !== "GET")) {
    expect(bodies.get(key) ?? digest).toBe(digest);
    bodies.set(key, digest);
  }
}
