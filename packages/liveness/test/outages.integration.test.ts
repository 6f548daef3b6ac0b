import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { findIncarnation } from "@mainstay/database";
import { createTestDatabase, startOwnPostgres, until, type OwnPostgres, type TestDatabase } from "@mainstay/testing";
import { createStage, roomy, type Stage } from "./stage.js";

let server: OwnPostgres;
let database: TestDatabase;
let stage: Stage;
beforeAll(async () => {
  server = await startOwnPostgres();
  database = await createTestDatabase({ serverUrl: server.url });
});
afterAll(async () => { await server.stop(); });
beforeEach(() => { stage = createStage(database.url); });
afterEach(async () => { await stage.close(); });

const probe = async (port: number | undefined, path: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: answer.status, body: await answer.text() };
};

// 0.1, 2 and 10 s at the default lease of 3 s
test.each([0.1 / 3, 2 / 3, 10 / 3])("a restart of Postgres that takes %f leases lapses no healthy incarnation and suspects none", async (leases) => {
  const peers = await Promise.all([1, 2, 3].map(() => stage.peer({ settings: roomy })));
  const runs = (await Promise.all(peers.map(({ incarnation }) => stage.hold(incarnation, 3)))).flat();
  await server.crash();
  await pause(leases * roomy.leaseMs);
  if (leases > 1) {
    expect(peers.map(({ liveness }) => liveness.isValid())).toEqual([false, false, false]);
    expect((await probe(peers[0]?.liveness.port, "/health/ready")).status).toBe(503);
    expect((await probe(peers[0]?.liveness.port, "/health/live")).status).toBe(200);
  }
  await server.start();
  await until("all valid again", () => peers.every(({ liveness }) => liveness.isValid()), 10_000);
  await pause(2 * roomy.leaseMs);
  expect(peers.map(({ lost }) => lost)).toEqual([[], [], []]);
  for (const { incarnation } of peers) expect(await findIncarnation(stage.db, incarnation)).toMatchObject({ lapsed: false, holds: 3 });
  expect(await stage.sql("select from run_events where type = 'lease.lost' and run_id = any($1::uuid[])", [runs])).toEqual([]);
  expect((await probe(peers[0]?.liveness.port, "/health/ready")).status).toBe(200);
}, 60_000);

test("an audit that cannot reach a database that is away does not count as a wedge", async () => {
  const peer = await stage.peer({ attests: "audit", settings: { ...roomy, wedgedAfterMs: 3_000 } });
  const audits = setInterval(() => void stage.db.query({ name: "test.audit", text: "select 1", plan: "custom" }, []).then(() => peer.liveness.attest(), () => undefined), 200);
  onTestFinished(() => clearInterval(audits));
  await pause(500);
  await server.crash();
  await pause(4_000); // longer than the wedge
  await server.start();
  await until("validity", () => peer.liveness.isValid(), 10_000);
  await pause(3_500);
  expect(peer.liveness.isValid()).toBe(true);
  expect(peer.log().filter(({ msg }) => msg === "heartbeat withheld, work path not attested")).toEqual([]);
}, 60_000);

test("a process that starts while Postgres is away begins when it is back", async () => {
  await server.halt();
  const begins = stage.peer();
  await pause(700);
  await server.start();
  const peer = await begins;
  expect(peer.liveness.isValid()).toBe(true);
}, 60_000);
