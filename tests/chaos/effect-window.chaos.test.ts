import { until, type Plan } from "@mainstay/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";

let chaos: ChaosFleet;
beforeEach(async () => { chaos = await startChaosFleet({ name: "effect-window", broker: "none" }); });
afterEach(async () => { await chaos.stop(); });

/** Submits a run and kills its holder while the request is on the wire; `after` is the plan for what comes then. */
async function killInWindow(workflowId: string, input: Record<string, unknown>, { during, after }: { during: Plan; after: Parameters<ChaosFleet["receiver"]["plan"]>[0] }): Promise<string> {
  chaos.receiver.plan(during);
  const runId = await chaos.submit(workflowId, { url: chaos.receiver.url, businessKey: workflowId, timeoutMs: 2_000, ...input });
  await until("the request on the wire", () => chaos.receiver.open().length === 1);
  const acquired = (await chaos.log(runId)).find(({ type }) => type === "lease.acquired")!;
  chaos.receiver.plan(after);
  await chaos.fleet.of("worker").find(({ incarnation }) => incarnation === acquired.payload["instanceId"])!.kill("SIGKILL");
  return runId;
}

const writes = () => chaos.receiver.ledger().filter(({ method }) => method === "POST");

test("an idempotent write whose holder is killed on the wire is sent again under the same key with the same body", async () => {
  const runId = await killInWindow("chaos-order", {}, { during: { then: "hang" }, after: {} });
  await expectCompleted(chaos, [runId]);
  expect(writes()).toHaveLength(2);
  expect(new Set(writes().map(({ key, digest }) => `${key} ${digest}`)).size).toBe(1);
  await checkStanding(chaos, [runId], { SIGKILL: 1 });
});

test("a non-idempotent write nobody can be asked about is not sent again: the run fails with its outcome unknown", async () => {
  const runId = await killInWindow("chaos-order", { class: "non_idempotent_write" }, { during: { then: "hang" }, after: {} });
  expect([...(await chaos.waitEnded([runId])).values()]).toEqual(["failed"]);
  expect(writes()).toHaveLength(1);
  expect(await chaos.sql("select class, disposition, state from dead_letters")).toEqual([
    { class: "UNKNOWN", disposition: "outcome_unknown", state: "RECONCILIATION_REQUIRED" },
  ]);
  const types = (await chaos.log(runId)).map(({ type }) => type);
  expect(types.slice(-2)).toEqual(["run.dead-lettered", "run.failed"]);
  await checkStanding(chaos, [runId], { SIGKILL: 1 });
});

test("a non-idempotent write that the other side confirms is not sent again, and its run completes", async () => {
  const runId = await killInWindow("chaos-reconciled", {}, {
    during: { then: "hang" },
    after: ({ method }) => (method === "GET" ? { body: { happened: true, result: { receipt: "found" } } } : {}),
  });
  await expectCompleted(chaos, [runId]);
  expect(writes()).toHaveLength(1);
  await checkStanding(chaos, [runId], { SIGKILL: 1 });
});

test("a non-idempotent write that the other side denies after the quiet instant is sent once more under the same key", async () => {
  const runId = await killInWindow("chaos-reconciled", {}, {
    during: { status: 500, then: "hang" }, // it never did what was asked
    after: ({ method }) => (method === "GET" ? { body: { happened: false } } : {}),
  });
  const sentFirst = writes()[0]!.at;
  await expectCompleted(chaos, [runId]);
  expect(writes().map(({ accepted }) => accepted)).toEqual([false, true]);
  expect(new Set(writes().map(({ key }) => key)).size).toBe(1);
  expect(writes()[1]!.at - sentFirst).toBeGreaterThan(2_000); // time-out and send grace have passed
  await checkStanding(chaos, [runId], { SIGKILL: 1 });
});
