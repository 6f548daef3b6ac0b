import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedis, startSentinels, until } from "@mainstay/testing";
import { expect } from "vitest";
import { expectOnce } from "./doorbell/expect-once.js";
import { readMetric } from "./doorbell/read-metric.js";
import { startDelays } from "./doorbell/start-delays.js";
import { startDoorbellFleet, type DoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { worstErrorRate } from "./doorbell/worst-error-rate.js";
import { boundOf } from "./load/bound-of.js";
import { defineCase, type CaseOn } from "./lane/define-case.js";

const ticketsWithinMs = 30_000;

defineCase({
  id: "C21", title: "a Redis that is away, for however long, keeps no run of an idle fleet waiting, and tickets flow again by themselves",
  fullMinutes: 28, scaledSeconds: 25,
}, async (on) => {
  const redis = await startOwnRedis();
  on.defer(() => redis.stop());
  const fleet = await startDoorbellFleet(on, { broker: { url: redis.url } });
  const runIds: string[] = [];
  for (const seconds of on.pick([3, 10, 60, 600], [2])) {
    for (const how of ["kill", "halt"] as const) {
      await ticketsFlow(fleet, runIds);
      const since = Date.now();
      await redis[how]();
      await until("worker and relay to say that they are degraded", () => degraded(fleet), 10_000);
      const during = await fleet.submit("doorbell-fast", {});
      runIds.push(during);
      await fleet.waitEnded([during], 15_000);
      const [delay = Infinity] = await startDelays(fleet, [during]);
      expect(delay).toBeLessThanOrEqual(await boundOf(fleet, "accepted"));
      while (Date.now() - since < seconds * 1_000) {
        await everybodyReady(fleet);
        await sleep(Math.min(5_000, Math.max(0, since + seconds * 1_000 - Date.now()))); // the outage's own length
      }
      await redis.start();
      const backMs = await ticketsFlow(fleet, runIds);
      expect(backMs).toBeLessThanOrEqual(ticketsWithinMs);
      const { process, lines } = worstErrorRate(fleet.fleet.processes(), since);
      on.tell(`outage of ${seconds} s by ${how}: started by sweep after ${Math.round(delay)} ms, tickets back after ${Math.round(backMs)} ms, worst ${lines} lines/s of ${process}`);
      on.measure(`tickets back after ${seconds} s (${how})`, Math.round(backMs), "ms");
      expect(lines, process).toBeLessThanOrEqual(10);
    }
  }
  expect(fleet.fleet.deaths()).toEqual({});
  await expectOnce(fleet, runIds);
  await failOver(on);
});

/** Milliseconds until a claim was won by a ticket, submitting a run now and then. */
async function ticketsFlow(fleet: DoorbellFleet, runIds: string[]): Promise<number> {
  const workers = fleet.fleet.of("worker");
  const before = await readMetric(workers, "mainstay_claims_total", ['reason="ticket"', 'result="won"']);
  const from = performance.now();
  await until("a claim by ticket", async () => {
    runIds.push(await fleet.submit("doorbell-fast", {}));
    await fleet.waitEnded(runIds.slice(-1));
    return (await readMetric(workers, "mainstay_claims_total", ['reason="ticket"', 'result="won"'])) > before;
  }, ticketsWithinMs + 5_000);
  return performance.now() - from;
}

/** Whether worker and relay say of themselves that they go on without the broker. */
async function degraded(fleet: DoorbellFleet): Promise<boolean> {
  const words = await Promise.all([...fleet.fleet.of("worker"), ...fleet.fleet.of("relay")].map(async ({ url }) => (await fetch(`${url}/health/ready`)).text()));
  return words.every((text) => text.includes("degraded"));
}

async function everybodyReady(fleet: DoorbellFleet): Promise<void> {
  for (const { name, url } of fleet.fleet.processes()) {
    for (const probe of ["live", "ready"]) expect((await fetch(`${url}/health/${probe}`)).status, `${name} ${probe}`).toBe(200);
  }
}

/** Sentinels promote the replica of a primary that was killed. */
async function failOver(on: CaseOn): Promise<void> {
  const sentinels = await startSentinels();
  on.defer(sentinels.stop);
  const fleet = await startDoorbellFleet(on, { broker: { url: sentinels.url } });
  const runIds: string[] = [];
  await ticketsFlow(fleet, runIds);
  await sentinels.primary.kill();
  runIds.push(await fleet.submit("doorbell-fast", {}));
  await until("the replica to be the primary", async () => (await sentinels.primaryPort()) === sentinels.replica.port, 30_000);
  const backMs = await ticketsFlow(fleet, runIds);
  on.measure("tickets back after a fail-over by Sentinels", Math.round(backMs), "ms");
  expect(backMs).toBeLessThanOrEqual(ticketsWithinMs);
  expect(fleet.fleet.deaths()).toEqual({});
  await expectOnce(fleet, runIds);
}
