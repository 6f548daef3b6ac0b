import { until } from "@mainstay/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";
import { submitOrders } from "./load/submit-orders.js";

let chaos: ChaosFleet;
beforeEach(async () => { chaos = await startChaosFleet({ name: "drain", env: { MAINSTAY_DRAIN_MS: "1500" } }); });
afterEach(async () => { await chaos.stop(); });

test("a worker told to end hands back what outlasts its drain, and nothing is lost or charged as a crash", async () => {
  const runIds = await Promise.all(Array.from({ length: 8 }, () => chaos.submit("chaos-hold", { holdMs: 4_000 })));
  await until("every run to execute", () => new Set(chaos.begun().map(({ runId }) => runId)).size === 8);
  const [leaving] = chaos.fleet.of("worker");
  const [{ held } = { held: 0 }] = await chaos.sql<{ held: number }>("select count(*)::int as held from runs where owner = $1", [leaving!.incarnation]);
  expect(await leaving!.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(new Set((await chaos.waitEnded(runIds)).values())).toEqual(new Set(["completed"]));
  const [sums] = await chaos.sql<{ crashes: number; losses: number; handed: number }>(
    "select sum(crashes)::int as crashes, sum(losses)::int as losses, sum(hand_backs)::int as handed from runs");
  expect(sums).toEqual({ crashes: 0, losses: 0, handed: held });
  await checkStanding(chaos, runIds, { "status 0": 1 });
});

test("every process told to end under load ends with status 0, and every accepted run is ended by those that follow", async () => {
  chaos.receiver.plan(() => ({ holdMs: Math.random() * 300 }));
  const load = submitOrders(chaos, { count: 60, overMs: 3_000, input: (index) => ({ firstMs: (index % 5) * 100 }) });
  await until("a third of the load", () => load.accepted.size >= 20);
  for (const role of ["worker", "relay", "supervisor"] as const) {
    const [leaving] = chaos.fleet.of(role);
    await chaos.fleet.add(role);
    expect(await leaving!.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  }
  const accepted = await load.done;
  expect(new Set((await chaos.waitEnded([...accepted.keys()])).values())).toEqual(new Set(["completed"]));
  expect(await chaos.sql("select id from runs where crashes > 0")).toEqual([]);
  await checkStanding(chaos, [...accepted.keys()], { "status 0": 3 });
});
