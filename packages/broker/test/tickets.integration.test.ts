import { randomUUID } from "node:crypto";
import { createTestRedis, until, type TestRedis } from "@mainstay/testing";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createTicketConsumer, createTicketPublisher, type TicketConsumer, type TicketConsumerOptions, type TicketPublisher } from "../src/index.js";

let redis: TestRedis;
let client: Redis;
let publisher: TicketPublisher;
let pool = "";
const consumers: TicketConsumer[] = [];
const prefix = "{test}";
const key = (type: string): string => `${prefix}:${pool}:${type}`;
const runs = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

beforeAll(async () => {
  redis = await createTestRedis();
  client = new Redis(redis.url);
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  pool = `pool-${randomUUID().slice(0, 8)}`;
  publisher = createTicketPublisher({ url: redis.url, prefix, commandTimeoutMs: 1_000 });
  await until("the publisher is up", () => publisher.brokerUp(), 5_000);
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
  await publisher.close();
});

function consume(given: Partial<TicketConsumerOptions>): { taken: string[]; bad: [string, string][]; consumer: TicketConsumer } {
  const taken: string[] = [];
  const bad: [string, string][] = [];
  const consumer = createTicketConsumer({
    url: redis.url, prefix, pool, commandTimeoutMs: 1_000,
    freeSlots: () => 1_000,
    onTicket: (runIds) => {
      taken.push(...runIds);
      return Promise.resolve();
    },
    onBadTicket: (raw, reason) => { bad.push([raw, reason]); },
    ...given,
  });
  consumers.push(consumer);
  return { taken, bad, consumer };
}

async function left(): Promise<number> {
  const [waiting, active] = await Promise.all([client.llen(key("wait")), client.llen(key("active"))]);
  return waiting + active;
}

test("every run of every ticket reaches a consumer, and nothing is left in Redis", async () => {
  const ids = runs(100);
  await publisher.publish(pool, [ids.slice(0, 32), ids.slice(32, 64), ids.slice(64, 96), ...ids.slice(96).map((id) => [id])]);
  const { taken } = consume({});
  await until("all runs were taken", () => taken.length === 100, 5_000);
  expect([...taken].sort()).toEqual([...ids].sort());
  await until("no ticket is left", async () => (await left()) === 0, 5_000);
  expect(await client.keys(`${key("")}[0-9]*`)).toEqual([]);
  expect(await client.zcard(key("completed"))).toBe(0);
});

test("a ticket of no run or of more than 32 is refused by the publisher", async () => {
  await expect(publisher.publish(pool, [[]])).rejects.toThrow("names 0");
  await expect(publisher.publish(pool, [runs(33)])).rejects.toThrow("names 33");
  expect(await left()).toBe(0);
});

test("a waiting consumer takes a new ticket within a few milliseconds", async () => {
  const { taken, consumer } = consume({});
  await until("the consumer is up", () => consumer.brokerUp(), 5_000);
  await until("the consumer blocks", async () => String(await client.client("LIST")).includes("cmd=bzpopmin"), 5_000);
  const waits: number[] = [];
  for (let round = 1; round <= 20; round += 1) {
    const from = performance.now();
    await publisher.publish(pool, [runs(1)]);
    await until("the run was taken", () => taken.length === round, 3_000);
    waits.push(performance.now() - from);
  }
  expect(waits.sort((a, b) => a - b)[10]).toBeLessThan(100);
});

test("no ticket is asked for while no slot is free, and one as soon as a slot is", async () => {
  let free = 0;
  const { taken, consumer } = consume({ freeSlots: () => free });
  await until("the consumer is up", () => consumer.brokerUp(), 5_000);
  await publisher.publish(pool, [runs(1), runs(1)]);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(taken).toEqual([]);
  expect(await client.llen(key("wait"))).toBe(2);
  free = 5;
  consumer.nudge();
  await until("both were taken", () => taken.length === 2, 3_000);
});

test("slots that onTicket reserves before its first await bound what is in hand", async () => {
  let free = 3;
  let inHand = 0;
  let most = 0;
  let done = 0;
  consume({
    freeSlots: () => free,
    onTicket: async (runIds) => {
      free -= runIds.length;
      inHand += 1;
      most = Math.max(most, inHand);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inHand -= 1;
      free += runIds.length;
      done += runIds.length;
    },
  });
  await publisher.publish(pool, runs(20).map((id) => [id]));
  await until("all were taken", () => done === 20, 10_000);
  expect(most).toBe(3);
});

test("a ticket is acknowledged although its onTicket rejected or threw", async () => {
  const failures: string[] = [];
  let calls = 0;
  consume({
    onTicket: () => {
      calls += 1;
      if (calls === 1) throw new Error("thrown");
      return Promise.reject(new Error("rejected"));
    },
    onTicketFailed: (error) => failures.push(error.message),
  });
  await publisher.publish(pool, [runs(1), runs(1)]);
  await until("both failures were told", () => failures.length === 2, 5_000);
  expect(failures).toEqual(["thrown", "rejected"]);
  await until("no ticket is left", async () => (await left()) === 0, 5_000);
});

test("a message that names no run is reported with its text and acknowledged, its good neighbours are taken", async () => {
  const { taken, bad } = consume({});
  const good = randomUUID();
  const raws = ["no json {", "{}", "[]", "null", "7", JSON.stringify({ runs: [] }), JSON.stringify({ runs: [good, 5, "x", good] }), JSON.stringify({ runs: runs(33) })];
  for (const [at, raw] of raws.entries()) {
    await client.hset(key(`odd-${at}`), { name: "odd", data: raw, opts: at === 0 ? "no json either" : "{}", timestamp: "1", delay: "0", priority: "0" });
    await client.lpush(key("wait"), `odd-${at}`);
  }
  await client.zadd(key("marker"), 0, "0");
  await until("all were judged", () => bad.length === 9 && taken.length === 1, 5_000);
  expect(taken).toEqual([good]);
  expect(bad.map(([, reason]) => reason).sort()).toEqual(
    ["no_run_ids", "no_run_ids", "no_run_ids", "no_run_ids", "no_run_ids", "no_run_ids", "no_run_ids", "too_many_runs", "unparsable"],
  );
  expect(bad.find(([, reason]) => reason === "unparsable")?.[0]).toBe("no json {");
  await until("no message is left", async () => (await left()) === 0, 5_000);
});

test("a message whose hash is gone does not stop the consumer", async () => {
  await client.lpush(key("wait"), "ghost");
  const { taken } = consume({});
  await publisher.publish(pool, [runs(1)]);
  await until("the good ticket was taken", () => taken.length === 1, 5_000);
});

test("runs put back come before what waited already", async () => {
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  let free = 1;
  const order: string[] = [];
  const { consumer } = consume({
    freeSlots: () => free,
    onTicket: async (runIds) => {
      free -= 1;
      order.push(...runIds.slice(0, 1));
      await consumer.putBack(runIds.slice(1));
    },
  });
  await publisher.publish(pool, [[first, second], [third]]);
  await until("the first was taken", () => order.length === 1, 5_000);
  for (const count of [2, 3]) {
    free = 1;
    consumer.nudge();
    await until("one more was taken", () => order.length === count, 5_000);
  }
  expect(order).toEqual([first, second, third]);
});

test("two consumers share a queue, and each ticket goes to one of them", async () => {
  const one = consume({});
  const two = consume({});
  const ids = runs(400);
  await publisher.publish(pool, ids.map((id) => [id]));
  await until("all runs were taken", () => one.taken.length + two.taken.length === 400, 10_000);
  expect(new Set([...one.taken, ...two.taken]).size).toBe(400);
  expect(Math.min(one.taken.length, two.taken.length)).toBeGreaterThan(0);
});

test("stopping while blocked is prompt and loses no ticket", async () => {
  const { consumer } = consume({});
  await until("the consumer is up", () => consumer.brokerUp(), 5_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const from = performance.now();
  await consumer.stop();
  expect(performance.now() - from).toBeLessThan(500);
  const ids = runs(3);
  await publisher.publish(pool, ids.map((id) => [id]));
  const { taken } = consume({});
  await until("the next consumer took them", () => taken.length === 3, 5_000);
});

test("stopping waits for the ticket in hand and acknowledges it", async () => {
  let finished = false;
  const { consumer } = consume({
    onTicket: async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      finished = true;
    },
  });
  await publisher.publish(pool, [runs(1)]);
  await until("the ticket is in hand", async () => (await client.llen(key("active"))) === 1, 5_000);
  await consumer.stop();
  expect(finished).toBe(true);
  expect(await left()).toBe(0);
});
