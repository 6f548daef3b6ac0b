import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect } from "vitest";
import { defineCase, type CaseFleet } from "./lane/define-case.js";
import { openStream } from "./load/open-stream.js";
import { wireFleet } from "./load/wire-fleet.js";

/** Appends one event as the engine does: the number is taken under the run's lock, the commit comes some time later. */
const append = `with locked as (
  select id, workspace, event_seq from runs where id = $1 for no key update
), moved as (
  update runs r set event_seq = r.event_seq + 1, status = case when $2 then 'completed' else r.status end, finished_at = case when $2 then now() end,
    outputs = case when $2 then '{}'::jsonb end, owner = null
  from locked l where r.id = l.id
)
insert into run_events (run_id, seq, workspace, type, fence, payload)
select id, event_seq, workspace, case when $2 then 'run.completed' else 'node.retried' end, 0,
  case when $2 then '{"outputs":{}}'::jsonb else '{"nodeId":"wait","attempt":1}'::jsonb end
from locked`;

/** Streams that are opened within one trial, at instants of their own. */
const readers = 3;
/** Events of one trial, at a thousand a second as far as the machine goes. */
const events = 60;

defineCase({ id: "C61", title: "no event is missed by a stream that opens while events are being committed", fullMinutes: 8, scaledSeconds: 15 }, async (on) => {
  const fleet = await on.startFleet({ ...wireFleet, api: 2, workers: 1 });
  const urls = fleet.fleet.of("api").map(({ url }) => url);
  const sessions = await Promise.all(Array.from({ length: 4 }, async () => {
    const session = new pg.Client({ connectionString: fleet.databaseUrl, application_name: "test" });
    await session.connect();
    await session.query("set synchronous_commit = off"); // the pace is the clock's, not the disk's
    on.defer(() => session.end());
    return session;
  }));
  const trials = on.pick(1_000, 25);
  let heldBack = 0;
  const rates: number[] = [];
  for (let trial = 0; trial < trials; trial += 1) {
    const id = await bear(fleet);
    const opened = Array.from({ length: readers }, async () => {
      await sleep(Math.random() * events);
      return openStream({ url: urls[Math.floor(Math.random() * urls.length)] ?? "", key: fleet.key, runId: `test/${id}` });
    });
    const began = performance.now();
    heldBack += await write(sessions, id);
    rates.push(events / ((performance.now() - began) / 1_000));
    for (const opening of opened) {
      const stream = await opening;
      expect([trial, await stream.closed]).toEqual([trial, "ended"]);
      expect(stream.frames().map((frame) => frame.id)).toEqual(Array.from({ length: events }, (_, index) => index));
    }
    if ((trial + 1) % 100 === 0) on.tell(`trial ${String(trial + 1)} of ${String(trials)}`);
  }
  on.measure("trials", trials);
  on.measure("events a second, median", Math.round(rates.sort((a, b) => a - b)[Math.floor(rates.length / 2)] ?? 0));
  on.measure("transactions that became visible late", heldBack);
});

/**
 * Writes a run's log at about a kilohertz from four sessions in turn. Some transactions begin, and take their identity,
 * long before they append: what began earlier becomes visible last.
 */
async function write(sessions: readonly pg.Client[], id: string): Promise<number> {
  let next = 0;
  let heldBack = 0;
  const clock = performance.now();
  await Promise.all(sessions.map(async (session, index) => {
    for (;;) {
      if (next >= events - 1) return;
      next += 1;
      const due = clock + next - performance.now();
      if (due > 0) await sleep(due);
      await session.query("begin");
      if (index % 2 === 1 && Math.random() < 0.3) {
        await session.query("select pg_current_xact_id()"); // an earlier transaction id than those that commit meanwhile
        await sleep(Math.random() * 8);
        heldBack += 1;
      }
      await session.query(append, [id, false]);
      if (Math.random() < 0.05) await sleep(Math.random() * 4); // numbered, not yet visible
      await session.query("commit");
      if (Math.random() < 0.5) await session.query("select pg_notify('mainstay_log', '')");
    }
  }));
  const [session] = sessions;
  await session?.query(append, [id, true]);
  await session?.query("select pg_notify('mainstay_log', '')");
  return heldBack;
}

/** A run that nobody can serve: its log is this case's own. */
async function bear(fleet: CaseFleet): Promise<string> {
  const id = randomUUID();
  await fleet.sql(
    `insert into runs (id, workspace, workflow_id, spec_hash, pool, requires, waiting_on, input, input_digest, subject, sweep_at, next_nodes, next_types, lineage)
     values ($1, 'test', 'wire-wait', 'none', 'nobody', 'nobody/none', 'dispatch', '{}', '\\x00', '{}', 'infinity', '{wait}', '{core.delay}', $1)`, [id]);
  return id;
}
