import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { beatIncarnation, findIncarnation, lapseIncarnations } from "@mainstay/database";
import { createTestDatabase, until, type TestDatabase } from "@mainstay/testing";
import { createStage, roomy, scaled, type Stage } from "./stage.js";

let database: TestDatabase;
let stage: Stage;
beforeAll(async () => { database = await createTestDatabase(); });
afterAll(async () => { await database.drop(); });
beforeEach(async () => {
  stage = createStage(database.url);
  await stage.sql("delete from incarnations");
});
afterEach(async () => { await stage.close(); });

const lostEvents = (runs: string[]) => stage.sql<{ run_id: string; trigger: string }>(
  "select run_id, payload->>'x-trigger' as trigger from run_events where type = 'lease.lost' and run_id = any($1::uuid[])", [runs]);

test("a silent incarnation is lapsed once by many witnesses, within lease and heartbeat, and each of its runs is released once", async () => {
  await Promise.all([1, 2, 3].map(() => stage.peer({ settings: { deathWatch: false } })));
  const silent = await stage.silent();
  const born = performance.now();
  const runs = await stage.hold(silent, 30);
  const facts = await until("the lapse", async () => {
    const seen = await findIncarnation(stage.db, silent);
    return seen?.lapsed === true ? seen : undefined;
  }, 5_000);
  const tookMs = performance.now() - born;
  await until("the release", async () => (await lostEvents(runs)).length >= 30, 2_000);
  expect(tookMs).toBeGreaterThan(scaled.leaseMs - 20);
  expect(tookMs).toBeLessThan(scaled.leaseMs + scaled.heartbeatMs + 200);
  expect(facts).toMatchObject({ trigger: "heartbeat_expired", heldAtLapse: 30 });
  const events = await lostEvents(runs);
  expect(events).toHaveLength(30);
  expect(new Set(events.map(({ trigger }) => trigger))).toEqual(new Set(["heartbeat_expired"]));
  expect(new Set(events.map(({ run_id }) => run_id)).size).toBe(30);
});

test("heartbeat and lapse race at the edge of the lease 500 times: a lapsed row never beats again, and only a lapsed owner loses runs", async () => {
  const leaseMs = 200;
  const outcomes = { lapsed: 0, beaten: 0 };
  const race = async (offsetMs: number): Promise<void> => {
    const id = await stage.silent(leaseMs);
    const beganMs = performance.now();
    await pause(leaseMs + offsetMs - (performance.now() - beganMs));
    const [beat, lapsed] = await Promise.all([
      pause(Math.random() * 4).then(() => beatIncarnation(stage.db, { id, heartbeatMs: 60, ring: 0 })),
      pause(Math.random() * 4).then(() => lapseIncarnations(stage.db, { seen: [{ id, beatNo: "0" }], heartbeatMs: 60 })),
    ]);
    const after = await findIncarnation(stage.db, id);
    const later = await beatIncarnation(stage.db, { id, heartbeatMs: 60, ring: 0 });
    // exactly one of the two wins, unless neither was due
    expect(beat === undefined).toBe(lapsed.length === 1);
    expect(after?.lapsed).toBe(lapsed.length === 1);
    expect(after?.beatNo).toBe(lapsed.length === 1 ? "0" : "1");
    expect(later === undefined).toBe(lapsed.length === 1);
    outcomes[lapsed.length === 1 ? "lapsed" : "beaten"] += 1;
  };
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 25 }, (_, i) => race(-50 + i * 4)));
  }
  expect(outcomes.lapsed + outcomes.beaten).toBe(500);
  expect(outcomes.lapsed).toBeGreaterThan(25);
  expect(outcomes.beaten).toBeGreaterThan(25);
}, 60_000);

test("an incarnation is lapsed only past its lease, at the beat number its witness saw, and once", async () => {
  const id = await stage.silent(200);
  const lapse = (beatNo: string) => lapseIncarnations(stage.db, { seen: [{ id, beatNo }], heartbeatMs: 60 });
  expect(await lapse("0")).toEqual([]);
  await beatIncarnation(stage.db, { id, heartbeatMs: 60, ring: 0 });
  await pause(250);
  expect(await lapse("0")).toEqual([]);
  expect(await lapse("1")).toMatchObject([{ id, trigger: "heartbeat_expired", held: 0 }]);
  expect(await lapse("1")).toEqual([]);
});

test("a clock of the database set forward or back by five minutes lapses nobody who is healthy", async () => {
  const peers = await Promise.all([1, 2, 3].map(() => stage.peer({ settings: roomy })));
  for (const step of ["-5 minutes", "5 minutes", "-2 seconds", "900 milliseconds"]) {
    await stage.sql("update incarnations set beat_at = beat_at + $1::interval where lapsed_at is null", [step]);
    await pause(roomy.leaseMs * 1.25);
  }
  expect(peers.map(({ lost }) => lost)).toEqual([[], [], []]);
  for (const { incarnation } of peers) expect(await findIncarnation(stage.db, incarnation)).toMatchObject({ lapsed: false });
});

test("a dead incarnation whose beat lies in the future, since the clock was set back, is lapsed all the same", async () => {
  await stage.peer({ settings: { deathWatch: false } });
  const silent = await stage.silent();
  await stage.sql("update incarnations set beat_at = now() + interval '5 minutes' where id = $1", [silent]);
  await until("the lapse", async () => (await findIncarnation(stage.db, silent))?.lapsed, scaled.leaseMs + 2 * scaled.heartbeatMs + 500);
});

test("an incarnation that was lapsed learns it with its next heartbeat and is no longer valid", async () => {
  const peer = await stage.peer();
  expect(peer.liveness.isValid()).toBe(true);
  await stage.sql("update incarnations set lapsed_at = now() where id = $1", [peer.incarnation]);
  await until("the loss", () => peer.lost.length > 0, scaled.heartbeatMs + 300);
  expect(peer.lost).toEqual(["lapsed"]);
  expect(peer.liveness.isValid()).toBe(false);
  expect(peer.liveness.validUntil()).toBe(0);
  const probe = await fetch(`http://127.0.0.1:${peer.liveness.port}/health/ready`);
  expect(probe.status).toBe(503);
});

test("a retired incarnation has ended and what it still held is handed back at once", async () => {
  const peer = await stage.peer();
  const runs = await stage.hold(peer.incarnation, 3);
  await peer.liveness.drain();
  expect(await findIncarnation(stage.db, peer.incarnation)).toMatchObject({ draining: true, ended: false });
  await peer.liveness.retire();
  expect(await findIncarnation(stage.db, peer.incarnation)).toMatchObject({ ended: true, lapsed: false, holds: 0 });
  expect((await lostEvents(runs)).map(({ trigger }) => trigger)).toEqual(["handed_back", "handed_back", "handed_back"]);
  expect(peer.lost).toEqual([]);
  expect(peer.liveness.isValid()).toBe(false);
});
