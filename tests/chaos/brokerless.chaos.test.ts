import { until } from "@mainstay/testing";
import { afterAll, beforeAll, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";
import { submitOrders } from "./load/submit-orders.js";

let chaos: ChaosFleet;
beforeAll(async () => { chaos = await startChaosFleet({ name: "brokerless", broker: "none" }); });
afterAll(async () => { await chaos.stop(); });

test("without a broker every accepted run ends exactly once, also when a worker is killed under load", async () => {
  chaos.receiver.plan(() => ({ holdMs: 100 + Math.random() * 200 }));
  const load = submitOrders(chaos, { count: 60, overMs: 2_500, input: (index) => ({ firstMs: (index % 5) * 50 }) });
  await until("a third of the load", () => load.accepted.size >= 20);
  const [victim] = chaos.fleet.of("worker");
  await victim!.kill("SIGKILL");
  const accepted = await load.done;
  await expectCompleted(chaos, accepted.keys());
  await checkStanding(chaos, [...accepted.keys()], { SIGKILL: 1 });
});
