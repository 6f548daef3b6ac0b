import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";
import { submitOrders } from "./load/submit-orders.js";

let chaos: ChaosFleet;
let killed = 0;
beforeAll(async () => {
  chaos = await startChaosFleet({ api: 2, name: "kills" });
  chaos.receiver.plan(() => ({ holdMs: 50 + Math.random() * 250 }));
});
afterAll(async () => { await chaos.stop(); });

test.each(["api", "relay", "worker", "supervisor"] as const)("every accepted run ends exactly once when the %s is killed under load", async (role) => {
  const load = submitOrders(chaos, { count: 60, overMs: 3_000, input: (index) => ({ firstMs: (index % 7) * 60 }) });
  await until("a third of the load", () => load.accepted.size >= 20);
  const [victim] = chaos.fleet.of(role);
  expect(await victim!.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  killed += 1;
  await chaos.fleet.add(role);
  const accepted = await load.done;
  await expectCompleted(chaos, accepted.keys());
  await checkStanding(chaos, [...accepted.keys()], { SIGKILL: killed });
});

test("fifty nodes that end in one tick are each executed once per fence, also when their worker is killed", async () => {
  const runIds = await Promise.all(Array.from({ length: 6 }, () => chaos.submit("chaos-fan", {})));
  await until("the first nodes", () => chaos.begun().filter(({ nodeId }) => /^n\d/.test(nodeId)).length >= 60);
  const [victim] = chaos.fleet.of("worker");
  await victim!.kill("SIGKILL");
  killed += 1;
  await chaos.fleet.add("worker");
  await expectCompleted(chaos, runIds);
  await checkStanding(chaos, runIds, { SIGKILL: killed });
});
