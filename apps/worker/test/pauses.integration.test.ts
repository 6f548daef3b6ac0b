import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { createActs } from "./stage/create-acts.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

let stage: Stage;
let create: ReturnType<typeof createActs>;
beforeAll(async () => {
  stage = await startStage({ workflows: "lives", name: "worker-pauses", supervisors: 1 });
  create = createActs(stage);
});
afterAll(async () => { await stage.stop(); });

const begun = (runId: string, times = 1) => until(`${runId} to begin`, () => stage.noted(runId).filter(({ what }) => what === "began").length >= times);
const paused = (runId: string) => until(`${runId} to be paused`, async () => (await stage.log(runId)).find(({ type }) => type === "run.paused"));
const statusOf = async (runId: string) => (await stage.sql<{ status: string; owner: string | null }>("select status, owner from runs where id = $1", [bare(runId)]))[0];

test("a draining pause lets the node under way finish, however long it takes, starts nothing new, and the run goes on from there", async () => {
  const runId = await stage.submit("proof-hold", { holdMs: 3_500 }); // longer than the grace of a cancel
  await begun(runId);
  expect(await stage.client.runs.pause(runId, { reason: "month end" })).toEqual({ runId, status: "paused" });
  expect((await stage.client.runs.get(runId)).status).toBe("paused");
  const event = await paused(runId);
  expect(event.payload).toEqual({ reason: "month end", drainPolicy: "drain-current-node" });
  expect((await stage.log(runId)).map(({ type }) => type).slice(-2)).toEqual(["node.completed", "run.paused"]);
  expect(stage.noted(runId).map(({ what, nodeId }) => `${nodeId} ${what}`)).toEqual(["hold began", "hold left"]);
  expect(await statusOf(runId)).toEqual({ status: "paused", owner: null });
  await sleep(1_500); // several sweeps
  expect(stage.noted(runId)).toHaveLength(2);
  await stage.client.runs.resume(runId);
  const { status, types, outputs } = await stage.ended(runId);
  expect({ status, outputs }).toEqual({ status: "completed", outputs: { attempt: 0 } });
  expect(types.slice(types.indexOf("run.paused"))).toEqual(["run.paused", "run.resumed", "lease.acquired", "node.started", "node.completed", "run.completed"]);
});

test.each([false, true])("an immediate pause cuts the attempt: no terminal event of its node, and it begins again after the resume; deaf code: %s", async (deaf) => {
  const runId = await stage.submit("proof-hold", { holdMs: 1_200, deaf });
  await begun(runId);
  await stage.client.runs.pause(runId, { drainPolicy: "immediate" });
  const event = await paused(runId);
  expect(event.payload).toEqual({ drainPolicy: "immediate", interruptedNodeId: "hold", interruptedAttempt: 0 });
  expect((await stage.log(runId)).map(({ type }) => type)).toEqual(["lease.acquired", "run.started", "node.started", "run.paused"]);
  await until("the code to return", () => stage.noted(runId).some(({ what }) => what === "left"));
  await stage.client.runs.resume(runId);
  const { status, outputs } = await stage.ended(runId);
  expect({ status, outputs }).toEqual({ status: "completed", outputs: { attempt: 1 } });
  const started = (await stage.log(runId)).filter(({ type }) => type === "node.started").map(({ payload }) => [payload["nodeId"], payload["attempt"]]);
  expect(started).toEqual([["hold", 0], ["hold", 1], ["after", 0]]);
});

test("a pause that is taken back before it is honoured leaves the run with its holder, which goes on to the end", async () => {
  const runId = await stage.submit("proof-hold", { holdMs: 1_500 });
  await begun(runId);
  await stage.client.runs.pause(runId);
  await sleep(300); // its holder has seen it
  await stage.client.runs.resume(runId);
  const { status, types } = await stage.ended(runId);
  expect(status).toBe("completed");
  expect(types).toEqual(["lease.acquired", "run.started", "node.started", "node.completed", "node.started", "node.completed", "run.completed"]);
});

test("the answer of a request that was on the wire at an immediate pause is evidence: the resumed run reuses it and sends nothing", async () => {
  const act = create(() => ({ holdMs: 1_500, body: { receipt: "first" } }));
  const runId = await stage.submit("proof-act", { tag: act.tag, class: "non_idempotent_write" });
  await act.onTheWire();
  await stage.client.runs.pause(runId, { drainPolicy: "immediate" });
  await paused(runId);
  expect(await stage.effects(runId)).toMatchObject([{ state: "launched" }]);
  await until("the answer to be recorded", async () => (await stage.effects(runId))[0]?.state === "confirmed");
  await stage.client.runs.resume(runId);
  expect((await stage.ended(runId)).status).toBe("completed");
  expect(act.arrivals()).toHaveLength(1);
});

test("a paused run that waits on a timer keeps its due time, and goes on at once when it has passed", async () => {
  const runId = await stage.submit("conformance-delay", { delayMs: 1_200 });
  const parked = await until("the run to be parked", async () => (await stage.sql<{ due: Date }>("select due_at as due from runs where id = $1 and waiting_on = 'timer'", [bare(runId)]))[0]);
  await stage.client.runs.pause(runId);
  await sleep(Math.max(0, parked.due.getTime() - Date.now()) + 500);
  expect(await statusOf(runId)).toEqual({ status: "paused", owner: null });
  expect(await stage.sql("select due_at as due from runs where id = $1", [bare(runId)])).toEqual([parked]);
  await stage.client.runs.resume(runId);
  expect((await stage.ended(runId, 3_000)).status).toBe("completed");
});

test("a cancel ends a paused run and one that is still to be paused, with its own reason", async () => {
  const runId = await stage.submit("proof-hold", { holdMs: 5_000 });
  await begun(runId);
  await stage.client.runs.pause(runId, { reason: "month end" });
  await stage.client.runs.cancel(runId, { reason: "no longer wanted" });
  expect((await stage.ended(runId, 5_000)).status).toBe("cancelled");
  expect((await stage.log(runId)).at(-1)!.payload).toMatchObject({ reason: "no longer wanted" });
  const parked = await stage.submit("conformance-delay", { delayMs: 30_000 });
  await until("the run to be parked", async () => (await stage.sql("select from runs where id = $1 and waiting_on = 'timer'", [bare(parked)])).length === 1);
  await stage.client.runs.pause(parked);
  expect(await stage.client.runs.cancel(parked)).toEqual({ runId: parked, status: "cancelled" });
});

test("a paused run fails at its deadline", async () => {
  const runId = await stage.submit("proof-deadline");
  await begun(runId);
  await stage.client.runs.pause(runId, { drainPolicy: "immediate" });
  await paused(runId);
  expect(await stage.ended(runId, 10_000)).toMatchObject({ status: "failed", code: "platform.run_timeout" });
});

test("a pause that races with the end 500 times: the answer agrees with what became of the run", async () => {
  const outcomes: { answer: string; became: string }[] = [];
  let aimMs = 40; // follows the end of the runs, so that the pauses go on meeting it
  const one = async (index: number): Promise<void> => {
    const act = create();
    const runId = await stage.submit("proof-race", { tag: act.tag, firstMs: 40 });
    await begun(runId);
    await sleep(Math.max(0, aimMs + (index % 20) * 3 - 30));
    const drainPolicy = index % 2 === 0 ? "immediate" : "drain-current-node";
    const answer = await stage.client.runs.pause(runId, { drainPolicy }).then(({ status }) => status as string, (error: unknown) => (error as { code: string }).code);
    const [{ became } = { became: "nothing" }] = await until(`${runId} to be paused or to end`, async () => {
      const rows = await stage.sql<{ became: string }>("select status as became from runs where id = $1 and status in ('paused', 'completed', 'failed')", [bare(runId)]);
      return rows.length === 1 ? rows : undefined;
    });
    outcomes.push({ answer, became });
    aimMs = Math.max(0, aimMs + (became === "completed" ? -4 : 4));
    if (became === "paused") await stage.client.runs.resume(runId);
    expect((await stage.ended(runId)).status).toBe("completed");
    expect(act.arrivals().filter(({ accepted }) => accepted)).toHaveLength(1);
  };
  for (let round = 0; round < 25; round++) await Promise.all(Array.from({ length: 20 }, (_, index) => one(index)));
  const means: Record<string, string> = { paused: "paused", run_terminal: "completed" };
  expect(outcomes).toHaveLength(500);
  expect(outcomes.filter(({ answer, became }) => means[answer] !== became)).toEqual([]);
  const [cut, ended] = ["paused", "completed"].map((wanted) => outcomes.filter(({ became }) => became === wanted).length);
  expect(Math.min(cut!, ended!)).toBeGreaterThan(10); // both sides of the race were met
}, 180_000);

test("and through all of it logs, executions and the outside ledger stand", async () => { await checkStanding(stage); });
