import { startRedisCluster, until } from "@mainstay/testing";
import { expect } from "vitest";
import { expectOnce } from "./doorbell/expect-once.js";
import { readMetric } from "./doorbell/read-metric.js";
import { startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { defineCase } from "./lane/define-case.js";

defineCase({
  id: "C28", title: "on a Redis Cluster everything works as shipped, whichever node is named, and two prefixes hear nothing of each other",
  fullMinutes: 3, scaledSeconds: 30,
}, async (on) => {
  const cluster = await startRedisCluster();
  on.defer(cluster.stop);
  const owner = await cluster.shardOf("{mainstay}");
  const [named] = cluster.shards.filter((shard) => shard !== owner);
  const other = await cluster.shardOf("{other}");
  const ours = await startDoorbellFleet(on, { broker: { url: String(named?.url) } });
  const theirs = await startDoorbellFleet(on, { broker: { url: String(named?.url) }, env: { MAINSTAY_BROKER_PREFIX: "{other}" } });
  for (const fleet of [ours, theirs]) {
    const processes = [...fleet.fleet.of("relay"), ...fleet.fleet.of("worker")];
    await until("relay and workers to call the broker up", async () => (await readMetric(processes, "mainstay_broker_up")) === processes.length);
  }
  const count = on.pick(200, 15);
  const submitAll = (fleet: typeof ours): Promise<string[]> => Promise.all(Array.from({ length: count }, (_, at) =>
    at % 3 === 0 ? fleet.order("doorbell-delayed", { delayMs: 500 }) : at % 3 === 1 ? fleet.order("doorbell-retried") : fleet.order("doorbell-order")));
  const [mine, yours] = await Promise.all([submitAll(ours), submitAll(theirs)]);
  await Promise.all([expectOnce(ours, mine), expectOnce(theirs, yours)]);
  for (const fleet of [ours, theirs]) {
    const won = await readMetric(fleet.fleet.of("worker"), "mainstay_claims_total", ['reason="ticket"', 'result="won"']);
    on.measure("claims won by ticket", won);
    expect(won).toBeGreaterThan(0);
    expect(await fleet.sql("select id from message_dead_letters")).toEqual([]); // a ticket of the other would name no run here
  }
  expect(await owner.ask((session) => session.keys("{mainstay}:*"))).not.toEqual([]);
  expect(await other.ask((session) => session.keys("{other}:*"))).not.toEqual([]);
});
