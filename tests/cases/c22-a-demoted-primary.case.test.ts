import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedis, startProxy, until } from "@mainstay/testing";
import { expect } from "vitest";
import { expectOnce } from "./doorbell/expect-once.js";
import { readMetric } from "./doorbell/read-metric.js";
import { startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { worstErrorRate } from "./doorbell/worst-error-rate.js";
import { defineCase } from "./lane/define-case.js";

defineCase({
  id: "C22", title: "a primary that became a replica under living connections is left for the one its name leads to",
  fullMinutes: 2, scaledSeconds: 20,
}, async (on) => {
  const [primary, replica] = [await startOwnRedis(), await startOwnRedis()];
  on.defer(async () => { await primary.stop(); await replica.stop(); });
  await replica.ask((session) => session.replicaof("127.0.0.1", primary.port));
  await until("the replica to follow", async () => (await replica.ask((session) => session.info("replication"))).includes("master_link_status:up"));
  const name = await startProxy(primary.url);
  on.defer(() => name.stop());
  const fleet = await startDoorbellFleet(on, { broker: { url: name.through(primary.url) } });
  const processes = [...fleet.fleet.of("relay"), ...fleet.fleet.of("worker")];
  const tickets = (): Promise<number> => readMetric(fleet.fleet.of("worker"), "mainstay_claims_total", ['reason="ticket"', 'result="won"']);
  const refusals = (): Promise<number> => readMetric(processes, "mainstay_broker_errors_total", ['reason="read_only"']);

  const runIds: string[] = [];
  await until("tickets to flow", async () => { runIds.push(await fleet.order("doorbell-order")); return (await tickets()) > 0; });
  const open = name.connections();
  // demoted under its clients, none of whose connections closes
  await replica.ask((session) => session.replicaof("NO", "ONE"));
  await primary.ask((session) => session.replicaof("127.0.0.1", replica.port));
  expect(name.connections()).toBeGreaterThanOrEqual(open);
  const since = Date.now();
  for (let at = 0; at < on.pick(20, 5); at++) { // written to the demoted node while its name still leads there
    runIds.push(await fleet.order("doorbell-order"));
    await sleep(100);
  }
  await until("the read-only refusals to be counted", async () => (await refusals()) > 0, 10_000);
  const before = await tickets();
  const from = performance.now();
  name.leadTo(replica.url);
  await until("a claim by ticket", async () => { runIds.push(await fleet.order("doorbell-order")); return (await tickets()) > before; }, 35_000);
  const backMs = performance.now() - from;
  await until("every process to call its broker up", async () => (await readMetric(processes, "mainstay_broker_up")) === processes.length, 30_000 - backMs);
  on.measure("tickets back after the name moved", Math.round(backMs), "ms");
  on.measure("read-only refusals counted", await refusals());
  expect(backMs).toBeLessThanOrEqual(30_000);
  const { process, lines } = worstErrorRate(fleet.fleet.processes(), since);
  expect(lines, process).toBeLessThanOrEqual(10);
  expect(fleet.fleet.deaths()).toEqual({});
  await expectOnce(fleet, runIds);
});
