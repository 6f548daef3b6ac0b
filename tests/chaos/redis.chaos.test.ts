import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedis, until, type OwnRedis } from "@mainstay/testing";
import { afterEach, beforeEach, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";
import { submitOrders, type Load } from "./load/submit-orders.js";

let redis: OwnRedis;
let chaos: ChaosFleet;
beforeEach(async () => {
  redis = await startOwnRedis();
  chaos = await startChaosFleet({ name: "redis", broker: { url: redis.url } });
});
afterEach(async () => {
  await chaos.stop();
  await redis.stop();
});

async function endsWell(load: Load): Promise<void> {
  const accepted = await load.done;
  await expectCompleted(chaos, accepted.keys());
  await checkStanding(chaos, [...accepted.keys()]);
}

test("a Redis that is flushed again and again under load loses no run", async () => {
  const load = submitOrders(chaos, { count: 80, overMs: 3_000 });
  for (let flushes = 0; flushes < 8; flushes++) {
    await sleep(350); // the fault's own rhythm
    await redis.flush();
  }
  await endsWell(load);
});

test("a Redis that ends under load and comes back empty loses no run, and tickets flow again", async () => {
  const load = submitOrders(chaos, { count: 80, overMs: 4_000 });
  await until("a part of the load", () => load.accepted.size >= 20);
  await redis.kill();
  await until("runs to be accepted and ended without Redis", async () => {
    const [row] = await chaos.sql<{ ended: number }>("select count(*)::int as ended from runs where status = 'completed'");
    return load.accepted.size >= 50 && (row?.ended ?? 0) >= 30;
  });
  await redis.start();
  await endsWell(load);
});

test("a Redis that freezes under load holds nobody up for long", async () => {
  const load = submitOrders(chaos, { count: 60, overMs: 2_000 });
  await until("a part of the load", () => load.accepted.size >= 15);
  redis.pause();
  const accepted = await load.done;
  await expectCompleted(chaos, accepted.keys());
  redis.resume();
  await endsWell(load);
});
