import { randomUUID } from "node:crypto";
import { startOwnRedis, startProxy, startRedisCluster, startSentinels, until } from "@mainstay/testing";
import { expect, onTestFinished, test } from "vitest";
import { createTicketConsumer, createTicketPublisher } from "../src/index.js";

const pool = "default";

function open({ url, prefix }: { url: string; prefix: string }) {
  const taken: string[] = [];
  const errors: string[] = [];
  const publisher = createTicketPublisher({ url, prefix, commandTimeoutMs: 500 }, { onError: ({ message }) => errors.push(message) });
  const consumer = createTicketConsumer({
    url, prefix, pool, commandTimeoutMs: 500, freeSlots: () => 100, onBadTicket: () => undefined,
    onTicket: (runIds) => {
      taken.push(...runIds);
      return Promise.resolve();
    },
    onError: ({ message }) => errors.push(message),
  });
  onTestFinished(async () => { await Promise.all([consumer.stop(), publisher.close()]); });
  return {
    taken, errors,
    up: () => until("publisher and consumer are up", () => publisher.brokerUp() && consumer.brokerUp(), 10_000),
    goesThrough: async () => {
      const id = randomUUID();
      await until("a ticket to be published", () => publisher.publish(pool, [[id]]).then(() => true), 5_000);
      await until("it to be taken", () => taken.includes(id), 5_000);
    },
  };
}

test("in a Redis Cluster tickets go through whichever node is named, and two prefixes hear nothing of each other", async () => {
  const cluster = await startRedisCluster();
  onTestFinished(cluster.stop);
  const [one, other] = ["{mainstay}", "{other}"];
  const owner = await cluster.shardOf(one);
  const [away] = cluster.shards.filter((shard) => shard !== owner);
  const ends = [open({ url: String(away?.url), prefix: one }), open({ url: owner.url, prefix: other })];
  for (const end of ends) await end.up();
  for (let round = 0; round < 5; round++) for (const end of ends) await end.goesThrough();
  expect(ends.map(({ taken }) => taken.length)).toEqual([5, 5]);
  expect(await owner.ask((session) => session.keys(`${one}:*`))).not.toEqual([]);
  for (const shard of cluster.shards.filter((each) => each !== owner)) expect(await shard.ask((session) => session.keys(`${one}:*`).catch(() => []))).toEqual([]);
});

test("a slot that moves to another node is followed there, also when the named node and the old one are gone", async () => {
  const cluster = await startRedisCluster({ count: 3, nodeTimeoutMs: 60_000 });
  onTestFinished(cluster.stop);
  const prefix = "{mainstay}";
  const owner = await cluster.shardOf(prefix);
  const [named, heir] = cluster.shards.filter((shard) => shard !== owner);
  if (named === undefined || heir === undefined) throw new Error("expected three shards");
  const end = open({ url: named.url, prefix });
  await end.up();
  await end.goesThrough();
  await owner.flush();
  const heirId = String(await heir.ask((session) => session.call("CLUSTER", "MYID")));
  const slot = String(await heir.ask((session) => session.call("CLUSTER", "KEYSLOT", prefix)));
  for (const shard of [heir, owner]) await shard.ask((session) => session.call("CLUSTER", "SETSLOT", slot, "NODE", heirId));
  await Promise.all([owner.kill(), named.kill()]);
  await end.goesThrough();
  await end.up();
  expect(await heir.ask((session) => session.keys(`${prefix}:*`))).not.toEqual([]);
});

test("a primary demoted under living connections is left for the one its name leads to, by the connection that blocks too", async () => {
  const [primary, replica] = [await startOwnRedis(), await startOwnRedis()];
  const name = await startProxy(primary.url);
  onTestFinished(async () => { await name.stop(); await replica.stop(); await primary.stop(); });
  const end = open({ url: name.through(primary.url), prefix: "{mainstay}" });
  await end.up();
  await end.goesThrough();
  await primary.ask((session) => session.replicaof("127.0.0.1", replica.port));
  name.leadTo(replica.url); // no connection closes
  await end.goesThrough();
  for (let round = 0; round < 5; round++) await end.goesThrough();
  expect(end.errors.some((message) => message.startsWith("READONLY") || message.startsWith("UNBLOCKED"))).toBe(true);
});

test("when Sentinels promote the replica, tickets flow again by themselves", async () => {
  const sentinels = await startSentinels();
  onTestFinished(sentinels.stop);
  const end = open({ url: sentinels.url, prefix: "{mainstay}" });
  await end.up();
  await end.goesThrough();
  await sentinels.primary.kill();
  await until("the replica is the primary", async () => (await sentinels.primaryPort()) === sentinels.replica.port, 15_000);
  await end.up();
  await end.goesThrough();
});
