import { until } from "@mainstay/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";
import { submitOrders } from "./load/submit-orders.js";

let chaos: ChaosFleet;
beforeEach(async () => { chaos = await startChaosFleet({ name: "drain", env: { MAINSTAY_DRAIN_MS: "1500" } }); });
afterEach(async () => { await chaos.stop(); });

/** How an incarnation lost runs, and how many crashes those were charged with by anybody. */
async function lossesOf(incarnation: string): Promise<{ trigger: string; runs: number; crashes: number }[]> {
  return chaos.sql<{ trigger: string; runs: number; crashes: number }>(
    `select e.payload->>'x-trigger' as trigger, count(*)::int as runs, sum(r.crashes)::int as crashes
     from run_events e join runs r on r.id = e.run_id
     where e.type = 'lease.lost' and e.payload->>'instanceId' = $1 group by 1`, [incarnation]);
}

test("a worker told to end hands back what outlasts its drain, and nothing is lost or charged as a crash", async () => {
  const runIds = await Promise.all(Array.from({ length: 8 }, () => chaos.submit("chaos-hold", { holdMs: 4_000 })));
  await until("every run to execute", () => new Set(chaos.begun().map(({ runId }) => runId)).size === 8);
  const [leaving] = chaos.fleet.of("worker");
  const [{ held } = { held: 0 }] = await chaos.sql<{ held: number }>("select count(*)::int as held from runs where owner = $1", [leaving!.incarnation]);
  expect(await leaving!.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  await expectCompleted(chaos, runIds);
  expect(await lossesOf(leaving!.incarnation)).toEqual([{ trigger: "handed_back", runs: held, crashes: 0 }]);
  await checkStanding(chaos, runIds, { "status 0": 1 });
});

test("every process told to end under load ends with status 0, and every accepted run is ended by those that follow", async () => {
  chaos.receiver.plan(() => ({ holdMs: Math.random() * 300 }));
  const load = submitOrders(chaos, { count: 60, overMs: 3_000, input: (index) => ({ firstMs: (index % 5) * 100 }) });
  await until("a third of the load", () => load.accepted.size >= 20);
  const left: string[] = [];
  for (const role of ["worker", "api", "relay", "supervisor"] as const) {
    const [leaving] = chaos.fleet.of(role);
    await chaos.fleet.add(role);
    left.push(leaving!.incarnation);
    expect(await leaving!.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  }
  const accepted = await load.done;
  await expectCompleted(chaos, accepted.keys());
  for (const incarnation of left) {
    expect((await lossesOf(incarnation)).filter(({ trigger, crashes }) => trigger !== "handed_back" || crashes > 0)).toEqual([]);
  }
  await checkStanding(chaos, [...accepted.keys()], { "status 0": 4 });
});
