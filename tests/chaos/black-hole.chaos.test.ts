import { startProxy, until, type Proxy } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";

let chaos: ChaosFleet;
let proxy: Proxy;
beforeAll(async () => {
  chaos = await startChaosFleet({ name: "black-hole", workers: 0 });
  proxy = await startProxy(chaos.databaseUrl);
});
afterAll(async () => {
  await chaos.stop();
  await proxy.stop();
});

test("runs whose working route is a black hole while their worker lives are resumed by a peer, and the worker comes back", async () => {
  const env = { DATABASE_URL: proxy.through(chaos.databaseUrl), DATABASE_DIRECT_URL: chaos.databaseUrl };
  const cut = await chaos.fleet.add("worker", { env });
  const runIds = await Promise.all(Array.from({ length: 5 }, () => chaos.submit("chaos-hold", { holdMs: 1_500 })));
  await until("every run to execute", () => runIds.every((runId) => chaos.begun().some((one) => one.runId === runId && one.pid === cut.pid)));
  proxy.blackHole();
  const peer = await chaos.fleet.add("worker");
  await expectCompleted(chaos, runIds);
  for (const runId of runIds) {
    const restored = (await chaos.log(runId)).find(({ type }) => type === "workflow.restored");
    expect(restored?.payload["x-instance-id"]).toBe(peer.incarnation);
    expect(["loop_wedged", "heartbeat_expired"]).toContain(restored?.payload["x-trigger"]);
  }
  proxy.heal();
  await peer.kill("SIGTERM");
  const after = await chaos.submit("chaos-hold", { holdMs: 0 });
  await expectCompleted(chaos, [after]);
  expect(chaos.begun().find(({ runId }) => runId === after)?.pid).toBe(cut.pid);
  await checkStanding(chaos, [...runIds, after], { "status 0": 1 });
});
