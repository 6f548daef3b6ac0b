import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { findIncarnation } from "@mainstay/database";
import { createTestDatabase, startProxy, until, type Proxy, type TestDatabase } from "@mainstay/testing";
import { createStage, roomy, scaled, type Stage } from "./stage.js";

let database: TestDatabase;
let proxy: Proxy;
let stage: Stage;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startProxy(database.url);
});
afterAll(async () => {
  await proxy.stop();
  await database.drop();
});
beforeEach(async () => {
  stage = createStage(database.url);
  await stage.sql("delete from incarnations");
});
afterEach(async () => {
  proxy.heal();
  await stage.close();
});

const cutOff = (settings = scaled) => stage.peer({ settings: { ...settings, databaseDirectUrl: proxy.through(database.url) } });

test("a process whose route to the database is black-holed for less than its lease keeps its incarnation", async () => {
  await Promise.all([1, 2].map(() => stage.peer({ settings: roomy })));
  const peer = await cutOff(roomy);
  for (let round = 0; round < 3; round++) {
    proxy.blackHole();
    await pause(roomy.leaseMs / 3);
    proxy.heal();
    await pause(roomy.leaseMs);
  }
  expect(peer.lost).toEqual([]);
  expect(await findIncarnation(stage.db, peer.incarnation)).toMatchObject({ lapsed: false });
});

test("a process cut off for longer is lapsed, not before its own validity is over, and learns it when the route heals", async () => {
  await Promise.all([stage.peer(), stage.peer()]);
  const peer = await cutOff();
  const runs = await stage.hold(peer.incarnation, 4);
  proxy.blackHole();
  let invalidAt = Infinity;
  const watch = setInterval(() => { if (!peer.liveness.isValid()) invalidAt = Math.min(invalidAt, performance.now()); }, 5);
  await until("the lapse", async () => (await findIncarnation(stage.db, peer.incarnation))?.lapsed, scaled.leaseMs + scaled.heartbeatMs + 500);
  const lapsedAt = performance.now();
  clearInterval(watch);
  expect(invalidAt).toBeLessThanOrEqual(lapsedAt);
  await until("the release", async () => (await stage.sql("select from runs where owner is null and id = any($1::uuid[])", [runs])).length === 4, 1_000);
  proxy.heal();
  await until("the loss", () => peer.lost.length > 0, 4_000);
  expect(peer.lost).toEqual(["lapsed"]);
});

test("with every reply half a heartbeat late nobody is lapsed or suspected", async () => {
  proxy.delay(roomy.heartbeatMs / 4);
  const peers = await Promise.all([cutOff(roomy), cutOff(roomy), cutOff(roomy)]);
  await pause(3 * roomy.leaseMs);
  expect(peers.map(({ lost }) => lost)).toEqual([[], [], []]);
  expect(peers.flatMap(({ log }) => log().filter(({ msg }) => msg === "incarnation lapsed" || msg === "incarnation suspected"))).toEqual([]);
  proxy.delay(0);
});
