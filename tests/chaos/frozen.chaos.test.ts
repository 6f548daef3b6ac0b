import type { FleetProcess } from "@mainstay/fleet";
import { until } from "@mainstay/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";

let chaos: ChaosFleet;
beforeEach(async () => { chaos = await startChaosFleet({ name: "frozen", broker: "none" }); });
afterEach(async () => { await chaos.stop({ withinMs: 4_000 }); });

/** The incarnation that acquired the run last, and under which fence. */
async function holder(runId: string): Promise<{ incarnation: string; fence: string } | undefined> {
  const acquired = (await chaos.log(runId)).findLast(({ type }) => type === "lease.acquired");
  return acquired && { incarnation: String(acquired.payload["instanceId"]), fence: acquired.fence };
}

async function takenFrom(runId: string, incarnation: string): Promise<{ incarnation: string; fence: string }> {
  return until("a peer to hold the run", async () => {
    const now = await holder(runId);
    return now?.incarnation === incarnation ? undefined : now;
  });
}

/** It has ended, or goes on under a new incarnation. */
function knowsItsEnd(worker: FleetProcess): boolean {
  return worker.exit() !== undefined || worker.lines().filter(({ event }) => event?.["msg"] === "incarnation registered").length > 1;
}

test("a worker frozen inside an effect wakes while its successor is inside it, and writes nothing to the run", async () => {
  let release = (): void => undefined;
  chaos.receiver.plan({ until: new Promise<void>((resolve) => { release = resolve; }) });
  const runId = await chaos.submit("chaos-order", { url: chaos.receiver.url, businessKey: "frozen-1", timeoutMs: 20_000 });
  await until("the first request", () => chaos.receiver.open().length === 1);
  const first = (await holder(runId))!;
  const frozen = chaos.fleet.of("worker").find(({ incarnation }) => incarnation === first.incarnation)!;

  frozen.freeze();
  const second = await takenFrom(runId, first.incarnation);
  await until("the successor's request", () => chaos.receiver.open().length === 2);
  frozen.thaw();
  await until("the frozen one to learn that its lease is lost", async () => {
    const [row] = await chaos.sql<{ gone: boolean }>("select lapsed_at is not null as gone from incarnations where id = $1", [first.incarnation]);
    return row?.gone === true && knowsItsEnd(frozen);
  });
  release();

  await expectCompleted(chaos, [runId]);
  const log = await chaos.log(runId);
  const lost = log.findIndex(({ type }) => type === "lease.lost");
  expect(log.slice(lost + 1).filter(({ fence }) => BigInt(fence) <= BigInt(first.fence))).toEqual([]);
  expect(BigInt(second.fence)).toBeGreaterThan(BigInt(first.fence));
  expect(new Set(chaos.receiver.ledger().map(({ key }) => key)).size).toBe(1);
  await checkStanding(chaos, [runId], chaos.fleet.deaths());
});

test("a worker frozen before its effect sends nothing when it wakes after a peer has taken the run", async () => {
  const runId = await chaos.submit("chaos-order", { url: chaos.receiver.url, businessKey: "frozen-2", firstMs: 700 });
  await until("the first node", () => chaos.begun().length === 1);
  const first = (await holder(runId))!;
  const frozen = chaos.fleet.of("worker").find(({ incarnation }) => incarnation === first.incarnation)!;

  frozen.freeze();
  await takenFrom(runId, first.incarnation);
  await expectCompleted(chaos, [runId]);
  const log = await chaos.log(runId);
  frozen.thaw();
  await until("the frozen one to learn that its lease is lost", () => knowsItsEnd(frozen));

  expect(await chaos.log(runId)).toEqual(log);
  expect(chaos.receiver.ledger()).toHaveLength(1);
  await checkStanding(chaos, [runId], chaos.fleet.deaths());
});
