import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { FleetProcess } from "@mainstay/fleet";
import { createClient } from "@mainstay/sdk";
import { startReceiver } from "@mainstay/testing";
import { expect } from "vitest";
import { readOddTimes, readWaits } from "./clock/read-waits.js";
import { defineCase } from "./lane/define-case.js";
import { boundOf } from "./load/bound-of.js";
import { readCharges } from "./load/read-charges.js";
import { createFakeClock, type FakeClock } from "./tools/create-fake-clock.js";

const hourMs = 3_600_000;
/** What every wait may be off, by the database's clock. */
const offMs = 1_000;
/** Of the lane `deadlines`, and of the look that finds it due. */
const laneMs = 2 * 2_000;

defineCase({
  id: "C48", title: "a clock that jumps by an hour under a worker, a supervisor or a relay moves no timer, no retry and no lease",
  fullMinutes: 32, scaledSeconds: 25, tools: ["libfaketime"],
}, async (on) => {
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const asked = new Set<string>();
  receiver.plan(({ body }) => (asked.size < asked.add(body).size ? { status: 429, retryInMs: 3_000 } : {}));
  const fleet = await on.startFleet({
    workflows: fileURLToPath(new URL("./clock/workflows.mjs", import.meta.url)), receivers: [receiver], workers: 1, supervisors: 0, relay: 0,
  });
  const clocks: { clock: FakeClock; one: FleetProcess }[] = [];
  for (const role of ["worker", "supervisor", "relay"] as const) {
    const clock = await createFakeClock();
    on.defer(clock.remove);
    clocks.push({ clock, one: await fleet.fleet.add(role, { env: clock.environment }) });
  }
  const [{ from } = { from: new Date() }] = await fleet.sql<{ from: Date }>("select min(started_at) as from from incarnations");
  const windowMs = on.pick(300_000, 2_000);
  const everyMs = on.pick(2_000, 250);
  const timeoutMs = on.pick(6_000, 2_000);
  const client = createClient({ url: fleet.apiUrl(), key: fleet.key });
  const orders: string[] = [];
  const cut: string[] = [];
  for (const { clock, one } of clocks) {
    for (const sign of [-1, 1]) {
      on.tell(`${one.name} is an hour ${sign < 0 ? "behind" : "ahead"} for ${String(windowMs / 1_000)} s`);
      clock.step(sign * hourMs);
      const { runId } = await client.runs.create("clock-hold", { holdMs: 60_000 }, { configurable: { version: 1, run: { runTimeoutMs: timeoutMs } } });
      fleet.accept(runId);
      cut.push(runId);
      for (const end = performance.now() + windowMs; performance.now() < end;) {
        const held = on.pick(orders.length % 20 === 0 ? 20_000 : 4_000, 300);
        orders.push(await fleet.submit("clock-order", { url: receiver.url, businessKey: randomUUID(), holdMs: held, parkMs: 2_000 }));
        await sleep(everyMs);
      }
    }
    clock.step(0);
  }
  expect([...(await fleet.waitEnded(orders, 60_000)).values()].filter((status) => status !== "completed")).toEqual([]);
  expect([...(await fleet.waitEnded(cut)).values()].filter((status) => status !== "failed")).toEqual([]);

  const lateMs = offMs + (await boundOf(fleet, "accepted"));
  const waits = await readWaits(fleet);
  const off = waits.map(({ dueMs, tookMs }) => tookMs - dueMs);
  on.measure("waits", waits.length);
  on.measure("earliest end of a wait", Math.min(...off), "ms off");
  on.measure("latest end of a wait", Math.max(...off), "ms off");
  expect(waits).toHaveLength(3 * orders.length); // a timer, a back-off, a Retry-After
  expect(waits.filter(({ dueMs, tookMs }) => tookMs < dueMs - offMs || tookMs > dueMs + lateMs)).toEqual([]);
  expect(waits.filter(({ what, dueMs }) => what === "node.retried charge" && (dueMs < 1_000 || dueMs > 4_000))).toEqual([]);
  const ends = await fleet.sql<{ ms: number }>(
    "select (extract(epoch from finished_at - created_at) * 1000)::float8 as ms from runs where id = any($1::uuid[])", [bare(cut)]);
  expect(ends.filter(({ ms }) => ms < timeoutMs - offMs || ms > timeoutMs + laneMs + offMs)).toEqual([]);
  // those that were cut for their time lost their leases by that
  const reclaims = await fleet.sql("select run_id, payload from run_events where type = 'lease.lost' and run_id <> all($1::uuid[])", [bare(cut)]);
  expect(reclaims).toEqual([]);
  expect(await readCharges(fleet)).toMatchObject({ crashes: 0, losses: 0 });
  expect(await readOddTimes(fleet, { from, most: 60_000 })).toEqual([]);
  expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
  expect(fleet.begun().filter(({ pid }) => pid === clocks[0]?.one.pid).length, "the worker on its own clock worked").toBeGreaterThan(0);
  const lapsed = await fleet.sql("select id from incarnations where lapsed_at is not null");
  expect(lapsed).toEqual([]);
});

const bare = (runIds: readonly string[]): string[] => runIds.map((id) => id.slice(id.indexOf("/") + 1));
