import { randomUUID } from "node:crypto";
import { startOwnRedis, until, type OwnRedis } from "@mainstay/testing";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTicketConsumer, createTicketPublisher, type TicketConsumer, type TicketPublisher } from "../src/index.js";

const prefix = "{test}";
const pool = "default";

let redis: OwnRedis;
let client: Redis;
let publisher: TicketPublisher;
let consumer: TicketConsumer;
let taken: string[];
let states: boolean[];
let errors: { at: number; suppressed: number }[];

beforeEach(async () => {
  redis = await startOwnRedis();
  client = new Redis(redis.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on("error", () => undefined);
  taken = [];
  states = [];
  errors = [];
  publisher = createTicketPublisher({ url: redis.url, prefix, commandTimeoutMs: 500 });
  consumer = createTicketConsumer({
    url: redis.url, prefix, pool, commandTimeoutMs: 500,
    freeSlots: () => 100,
    onTicket: (runIds) => {
      taken.push(...runIds);
      return Promise.resolve();
    },
    onBadTicket: () => undefined,
    onState: (up) => states.push(up),
    onError: (_, suppressed) => errors.push({ at: performance.now(), suppressed }),
  });
  await bothUp();
});
afterEach(async () => {
  await Promise.all([consumer.stop(), publisher.close()]);
  client.disconnect();
  await redis.stop();
});

async function bothUp(): Promise<void> {
  await until("publisher and consumer are up", () => publisher.brokerUp() && consumer.brokerUp(), 10_000);
}

async function oneTicketGoesThrough(withinMs: number): Promise<void> {
  const id = randomUUID();
  await publisher.publish(pool, [[id]]);
  await until("the run was taken", () => taken.includes(id), withinMs);
}

test("Redis killed and started again empty: both sides say so and go on by themselves", async () => {
  await oneTicketGoesThrough(2_000);
  await redis.kill();
  await until("both know", () => !publisher.brokerUp() && !consumer.brokerUp(), 2_000);
  const from = performance.now();
  await expect(publisher.publish(pool, [[randomUUID()]])).rejects.toThrow("the broker is away");
  expect(performance.now() - from).toBeLessThan(50);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await redis.start();
  await bothUp();
  await oneTicketGoesThrough(4_000);
  expect(states).toEqual([true, false, true]);
});

test("an outage writes at most five lines a second and counts what it left out", async () => {
  errors = [];
  await redis.kill();
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  for (const { at } of errors) {
    expect(errors.filter((other) => other.at >= at && other.at < at + 1_000).length).toBeLessThanOrEqual(5);
  }
  expect(errors.length).toBeLessThanOrEqual(30);
});

test("Redis flushed under load: nobody crashes and later tickets go through", async () => {
  const publishing = (async () => {
    for (let round = 0; round < 50; round += 1) await publisher.publish(pool, [[randomUUID()], [randomUUID()]]).catch(() => undefined);
  })();
  for (let flush = 0; flush < 5; flush += 1) {
    await client.flushall();
    await client.script("FLUSH");
  }
  await publishing;
  await oneTicketGoesThrough(4_000);
});

test("a Redis that became read-only counts as away until it takes writes again", async () => {
  await client.replicaof("127.0.0.1", "1");
  await expect(publisher.publish(pool, [[randomUUID()]])).rejects.toThrow();
  await until("both know", () => !publisher.brokerUp() && !consumer.brokerUp(), 6_000);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(publisher.brokerUp()).toBe(false);
  await client.replicaof("NO", "ONE");
  await bothUp();
  await oneTicketGoesThrough(4_000);
});

test("a frozen Redis fails a publication after its command time-out, and both recover when it thaws", async () => {
  redis.pause();
  const from = performance.now();
  await expect(publisher.publish(pool, [[randomUUID()]])).rejects.toThrow("timed out");
  expect(performance.now() - from).toBeLessThan(900);
  await until("the consumer knows", () => !consumer.brokerUp(), 8_000);
  redis.resume();
  await bothUp();
  await oneTicketGoesThrough(6_000);
});

test("connections cut by the server are opened again", async () => {
  await client.client("KILL", "TYPE", "normal", "SKIPME", "yes");
  await until("the consumer noticed", () => states.length > 1, 3_000);
  await bothUp();
  await oneTicketGoesThrough(4_000);
});

test("a consumer stops promptly while Redis is away, and putting back never rejects", async () => {
  await redis.kill();
  await until("the consumer knows", () => !consumer.brokerUp(), 2_000);
  await consumer.putBack([randomUUID()]);
  const from = performance.now();
  await consumer.stop();
  expect(performance.now() - from).toBeLessThan(500);
});

test("a consumer started while Redis is away takes tickets once it is there", async () => {
  await redis.kill();
  const late: string[] = [];
  const second = createTicketConsumer({
    url: redis.url, prefix, pool, commandTimeoutMs: 500, freeSlots: () => 100,
    onTicket: (runIds) => {
      late.push(...runIds);
      return Promise.resolve();
    },
    onBadTicket: () => undefined,
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(second.brokerUp()).toBe(false);
  await redis.start();
  await bothUp();
  await until("the second is up", () => second.brokerUp(), 5_000);
  for (let round = 0; round < 40; round += 1) await publisher.publish(pool, [[randomUUID()]]);
  await until("all were taken", () => taken.length + late.length >= 40, 6_000);
  await second.stop();
});
