import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { findIncarnation } from "@mainstay/database";
import { createTestDatabase, until, type TestDatabase } from "@mainstay/testing";
import { createStage, roomy, scaled, type Child, type Stage } from "./stage.js";

let database: TestDatabase;
let stage: Stage;
beforeAll(async () => { database = await createTestDatabase(); });
afterAll(async () => { await database.drop(); });
beforeEach(async () => {
  stage = createStage(database.url);
  await stage.sql("delete from incarnations");
});
afterEach(async () => { await stage.close(); });

const wedgedBoundMs = scaled.wedgedAfterMs + scaled.leaseMs + scaled.heartbeatMs + 500;
const lapse = (incarnation: string, withinMs: number) => until("the lapse", async () => {
  const facts = await findIncarnation(stage.db, incarnation);
  return facts?.lapsed === true ? facts : undefined;
}, withinMs);
const said = (child: Child, msg: string) => until(msg, () => child.said().find((word) => word.msg === msg), 5_000);
const probe = async (port: number | undefined, path: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: answer.status, body: await answer.text() };
};

test("a process whose work path is not attested is lapsed as wedged within its bound, and learns it", async () => {
  await Promise.all([stage.peer(), stage.peer()]);
  const child = await stage.child();
  const runs = await stage.hold(child.incarnation, 3);
  child.tell("mute");
  expect(await lapse(child.incarnation, wedgedBoundMs)).toMatchObject({ trigger: "loop_wedged", heldAtLapse: 3 });
  await said(child, "lost");
  await until("the release", async () => (await stage.sql(
    "select from run_events where payload->>'x-trigger' = 'loop_wedged' and run_id = any($1::uuid[])", [runs])).length === 3, 1_000);
});

test("a blocked main loop is lapsed as wedged, its thread answers for it meanwhile, and it wakes up invalid", async () => {
  await stage.peer();
  const child = await stage.child();
  child.tell(`wedge ${wedgedBoundMs + 500}`);
  expect(await probe(child.port, "/health/ready")).toMatchObject({ status: 503, body: expect.stringContaining("main loop") as string });
  expect((await probe(child.port, "/metrics")).status).toBe(503);
  expect((await probe(child.port, "/health/live")).status).toBe(200);
  expect(await lapse(child.incarnation, wedgedBoundMs)).toMatchObject({ trigger: "loop_wedged" });
  expect(await said(child, "unwedged")).toMatchObject({ valid: false });
  await said(child, "lost");
});

test("a main loop that is busy for less than the wedge keeps its incarnation", async () => {
  await stage.peer({ settings: roomy });
  const child = await stage.child(roomy);
  child.tell(`wedge ${roomy.wedgedAfterMs / 2}`);
  await said(child, "unwedged");
  await pause(roomy.leaseMs * 1.5);
  expect(await findIncarnation(stage.db, child.incarnation)).toMatchObject({ lapsed: false, trigger: null });
});

test("a frozen process is lapsed, and within one heartbeat of waking it knows that it has lost all", async () => {
  await Promise.all([stage.peer(), stage.peer(), stage.peer()]);
  const child = await stage.child();
  const runs = await stage.hold(child.incarnation, 3);
  child.process.kill("SIGSTOP");
  expect(await lapse(child.incarnation, scaled.leaseMs + scaled.heartbeatMs + 500)).toMatchObject({ trigger: "heartbeat_expired" });
  await pause(2_000);
  const woken = Date.now();
  child.process.kill("SIGCONT");
  expect(Number((await said(child, "lost")).at) - woken).toBeLessThan(scaled.heartbeatMs + 250);
  expect(await stage.sql("select distinct payload->>'x-trigger' as trigger from run_events where type = 'lease.lost' and run_id = any($1::uuid[])", [runs]))
    .toEqual([{ trigger: "heartbeat_expired" }]);
});

test("a process frozen with nobody to lapse it goes on after waking", async () => {
  const child = await stage.child();
  child.process.kill("SIGSTOP");
  await pause(scaled.leaseMs + scaled.wedgedAfterMs + 500);
  child.process.kill("SIGCONT");
  await pause(scaled.leaseMs);
  expect(await findIncarnation(stage.db, child.incarnation)).toMatchObject({ lapsed: false, trigger: null });
  expect(child.said().filter(({ msg }) => msg === "lost")).toEqual([]);
});

test("probes pass main's word on, and a draining process is not ready", async () => {
  const peer = await stage.peer({ readiness: () => ({ ready: true, reasons: ["the broker is away: runs are found by sweeping"] }) });
  const { port } = peer.liveness;
  expect(await probe(port, "/health/ready")).toEqual({ status: 200, body: '{"status":"ready","reasons":["the broker is away: runs are found by sweeping"]}' });
  expect((await probe(port, "/health/startup")).status).toBe(200);
  expect(await probe(port, "/metrics")).toEqual({ status: 200, body: "metrics\n" });
  expect((await probe(port, "/other")).status).toBe(404);
  await peer.liveness.drain();
  expect(await probe(port, "/health/ready")).toMatchObject({ status: 503, body: expect.stringContaining("draining") as string });
  expect((await probe(port, "/health/live")).status).toBe(200);
});

test("a hint reaches the processes that hear its channel, and no others", async () => {
  const peer = await stage.peer({ channels: ["dispatch", "log"] });
  const heard: string[] = [];
  for (const channel of ["dispatch", "work", "log"] as const) peer.liveness.onWake(channel, () => heard.push(channel));
  await stage.sql("select pg_notify('mainstay_dispatch', ''), pg_notify('mainstay_work', ''), pg_notify('mainstay_log', '')");
  await until("the hints", () => heard.length >= 2, 2_000);
  expect([...new Set(heard)].sort()).toEqual(["dispatch", "log"]);
});

test("a port that is taken is refused at the start", async () => {
  const first = await stage.peer();
  await expect(stage.peer({ probe: { host: "127.0.0.1", port: first.liveness.port ?? 0 } })).rejects.toThrow(/EADDRINUSE/);
});
