import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedis, until } from "@mainstay/testing";
import { expect } from "vitest";
import { expectOnce } from "./doorbell/expect-once.js";
import { queueWorker, startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { defineCase } from "./lane/define-case.js";

defineCase({
  id: "C20", title: "a Redis that is flushed twice loses no queued, running, delayed or retried run",
  fullMinutes: 4, scaledSeconds: 20,
}, async (on) => {
  const redis = await startOwnRedis();
  on.defer(() => redis.stop());
  const retryBaseMs = on.pick(15_000, 2_000);
  const fleet = await startDoorbellFleet(on, { broker: { url: redis.url }, workers: 1, env: { MAINSTAY_SLOTS: "150", CASE_RETRY_BASE_MS: String(retryBaseMs) } });
  // its 20 slots are held by the running ones while the queued wait on the broker
  await fleet.fleet.add("worker", { env: { ...queueWorker, MAINSTAY_SLOTS: on.pick("20", "4") } });
  const [running, queued, delayed, retried] = on.pick([20, 500, 50, 10], [4, 50, 8, 3]);
  const holdMs = on.pick(15_000, 2_500);
  const many = (count: number, one: (at: number) => Promise<string>): Promise<string[]> => Promise.all(Array.from({ length: count }, (_, at) => one(at)));

  const runIds = await many(running, () => fleet.order("doorbell-queued", { holdMs }));
  await until("the running ones to run", async () => (await held(fleet)) === running);
  runIds.push(...await many(queued, () => fleet.order("doorbell-queued", { holdMs: 50 })));
  const delays = new Map<string, number>();
  await many(delayed, async (at) => {
    const delayMs = on.pick(5_000, 1_000) + at * on.pick(500, 300); // some are due before, between and after the flushes
    const runId = await fleet.order("doorbell-delayed", { delayMs });
    delays.set(runId, delayMs);
    return runId;
  });
  const again = await many(retried, () => fleet.order("doorbell-retried"));
  runIds.push(...delays.keys(), ...again);
  await until("those that fail once to wait in their back-off", async () => (await waiting(fleet, "retry")) === retried);
  const state = { running: await held(fleet), queued: await waiting(fleet, "dispatch"), delayed: await waiting(fleet, "timer"), retried: await waiting(fleet, "retry") };
  on.tell(`first flush with ${JSON.stringify(state)}`);
  await redis.flush();
  await sleep(on.pick(10_000, 1_000)); // the case's own interval
  await redis.flush();
  await expectOnce(fleet, runIds, on.pick(180_000, 60_000));

  const bound = Number(fleet.env["MAINSTAY_DISPATCH_BOUND_MS"] ?? 2_000) + Number(fleet.env["MAINSTAY_SWEEP_MS"] ?? 500) + 5_000;
  const late = await fleet.sql<{ id: string; ms: number }>(
    `select s.run_id as id, (extract(epoch from d.at - s.at) * 1000)::float8 as ms
     from run_events s join run_events d on d.run_id = s.run_id and d.type = 'node.started' and d.node_id = 'due'
     where s.type = 'node.started' and s.node_id = 'wait'`);
  const worst = Math.max(...late.map(({ id, ms }) => ms - delayOf(delays, id)));
  expect(late).toHaveLength(delayed);
  expect(late.filter(({ id, ms }) => ms < delayOf(delays, id))).toEqual([]); // never early
  on.measure("latest delayed run", Math.round(worst), "ms after it was due");
  expect(worst).toBeLessThanOrEqual(bound);
  on.measure("runs ended once", runIds.length);
});

type Fleet = Awaited<ReturnType<typeof startDoorbellFleet>>;

async function held(fleet: Fleet): Promise<number> {
  const [row] = await fleet.sql<{ n: number }>("select count(*)::int as n from runs where owner is not null");
  return row?.n ?? 0;
}

async function waiting(fleet: Fleet, on: string): Promise<number> {
  const [row] = await fleet.sql<{ n: number }>("select count(*)::int as n from runs where owner is null and waiting_on = $1", [on]);
  return row?.n ?? 0;
}

function delayOf(delays: ReadonlyMap<string, number>, id: string): number {
  for (const [runId, ms] of delays) if (runId.endsWith(id)) return ms;
  throw new Error(`expected ${id} to be one of the delayed runs`);
}
