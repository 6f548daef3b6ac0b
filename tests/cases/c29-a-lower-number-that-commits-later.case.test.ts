import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { openInsertPath } from "./doorbell/open-insert-path.js";
import { startDelays } from "./doorbell/start-delays.js";
import { startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { defineCase } from "./lane/define-case.js";

defineCase({
  id: "C29", title: "a run that commits after its successors is published all the same, and holds none of them back",
  fullMinutes: 4, scaledSeconds: 25,
}, async (on) => {
  const fleet = await startDoorbellFleet(on, { except: { sessions: "the case itself keeps a transaction open, outside the fleet" } });
  const workflowId = "doorbell-fast";
  const dispatchBoundMs = Number(fleet.env["MAINSTAY_DISPATCH_BOUND_MS"] ?? 2_000);
  const pollMs = Number(fleet.env["MAINSTAY_RELAY_POLL_MS"] ?? 1_000);
  const open = () => openInsertPath(fleet.databaseUrl, { workflowId, dispatchBoundMs });
  const startedAt = async (id: string): Promise<number> => {
    const found = await until(`${id} to start`, async () => (await fleet.log(id)).find(({ type }) => type === "run.started"), 20_000);
    return found.at.getTime();
  };
  await until("the workflow to be known", async () => (await fleet.sql("select from workflow_specs where workflow_id = $1", [workflowId])).length > 0);

  const [early, late] = [await open(), await open()];
  const a = await early.insert();
  const b = await late.insert();
  const bCommitted = Date.now();
  await late.commit();
  const bMs = (await startedAt(b)) - bCommitted;
  await until("B's row to be gone", async () => (await fleet.sql("select from outbox where run_id = $1", [b])).length === 0);
  await sleep(on.pick(30_000, 1_500)); // A stays open
  const aCommitted = Date.now();
  await early.commit();
  const aMs = (await startedAt(a)) - aCommitted;
  await until("A's row to be gone", async () => (await fleet.sql("select from outbox where run_id = $1", [a])).length === 0, 2 * pollMs + 2_000);
  for (const id of [a, b]) fleet.accept(`test/${id}`);
  on.measure("A started", aMs, `ms after its commit; two polls are ${2 * pollMs} ms`);
  on.measure("B started", bMs, "ms after its commit");
  expect(aMs).toBeLessThanOrEqual(2 * pollMs);
  expect(bMs).toBeLessThanOrEqual(2 * pollMs);

  const total = on.pick(2_000, 120);
  const sessions = [early, late, ...await Promise.all(Array.from({ length: 18 }, open))];
  on.defer(() => Promise.all(sessions.map((one) => one.close())));
  const kept: string[] = [];
  const rolledBack: string[] = [];
  let left = total;
  await Promise.all(sessions.map(async (session) => {
    while (left-- > 0) {
      const id = await session.insert();
      await sleep(Math.random() * 500);
      if (Math.random() < 0.05) {
        await session.rollBack();
        rolledBack.push(id);
      } else {
        await session.commit();
        fleet.accept(`test/${id}`);
        kept.push(id);
      }
    }
  }));
  on.tell(`${kept.length} committed, ${rolledBack.length} rolled back`);
  const ended = await fleet.waitEnded(kept, 60_000);
  expect([...ended].filter(([, status]) => status !== "completed")).toEqual([]);
  const executed = fleet.begun().map(({ runId }) => runId.slice(runId.lastIndexOf("/") + 1));
  expect(executed.filter((id) => rolledBack.includes(id))).toEqual([]);
  expect([...executed].sort()).toEqual([a, b, ...kept].sort());
  const delays = await startDelays(fleet, kept);
  on.measure("p99 from insert to start", Math.round(delays[Math.floor(delays.length * 0.99)] ?? 0), "ms");
  on.measure("accepted = executed", kept.length);
  on.measure("rolled back, executed 0", rolledBack.length);
});
