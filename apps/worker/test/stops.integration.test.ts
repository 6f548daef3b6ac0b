import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { createActs } from "./stage/create-acts.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

let stage: Stage;
let create: ReturnType<typeof createActs>;
beforeAll(async () => {
  stage = await startStage({ workflows: "lives", name: "worker-stops", supervisors: 1 });
  create = createActs(stage);
});
afterAll(async () => { await stage.stop(); });

const begun = (runId: string) => until(`${runId} to begin`, () => stage.noted(runId).find(({ what }) => what === "began"));

test("a run that passes its deadline fails as run_timeout, the breach is told, and its code is stopped", async () => {
  const { status, code, types, runId } = await stage.run("proof-deadline");
  expect({ status, code }).toEqual({ status: "failed", code: "platform.run_timeout" });
  expect(types.slice(-4)).toEqual(["lease.lost", "cap.breached", "run.dead-lettered", "run.failed"]);
  const log = await stage.log(runId);
  const breach = log.find(({ type }) => type === "cap.breached")!;
  expect(breach.payload).toMatchObject({ kind: "run-duration", limit: 1_200 });
  expect(Number(breach.payload["observed"])).toBeGreaterThanOrEqual(1_200);
  expect(log.at(-1)!.payload["error"]).toMatchObject({ code: "run_timeout" });
  expect(await stage.letters(runId)).toMatchObject([{ class: "TRANSIENT", disposition: "handler_error" }]);
  await until("the code to be told", () => stage.noted(runId).some(({ what }) => what === "aborted"));
});

test.each([false, true])("a cancel while a node executes aborts its signal and ends the run once, with nothing after it; deaf code: %s", async (deaf) => {
  const runId = await stage.submit("proof-hold", { holdMs: 1_500, deaf });
  await begun(runId);
  const answer = await stage.client.runs.cancel(runId, { reason: "changed my mind" });
  expect(["cancelling", "cancelled"]).toContain(answer.status);
  const { status, types } = await stage.ended(runId, 5_000);
  expect(status).toBe("cancelled");
  expect(types.filter((type) => type === "run.cancelled")).toHaveLength(1);
  expect(types.slice(-2)).toEqual(["node.cancelled", "run.cancelled"]);
  await until("the code to return", () => stage.noted(runId).some(({ what }) => what === "left"));
  expect(stage.noted(runId).map(({ what }) => what)).toEqual(["began", "aborted", "left"]); // and no node after it
  const log = await stage.log(runId);
  expect(log.map(({ type }) => type)).toEqual(types);
  expect(log.at(-1)!.payload).toMatchObject({ reason: "changed my mind" });
});

test("a run that needs code nobody has stays pending, says what it needs, spends no attempt, and starts when a worker comes that has it", async () => {
  const env = { MAINSTAY_WORKFLOWS: fileURLToPath(new URL("./workflows/special.mjs", import.meta.url)) };
  const first = await stage.fleet.add("worker", { env });
  await first.kill("SIGTERM"); // its definition stays known
  const runId = await stage.submit("proof-special");
  for (let n = 0; n < 5; n++) expect((await stage.run("proof-quick")).status).toBe("completed"); // the others sweep past it
  const [row] = await stage.sql<{ status: string; on: string; claims: number; requires: string }>(`select status, waiting_on as "on", claims, requires from runs where id = $1`, [bare(runId)]);
  expect(row).toMatchObject({ status: "pending", on: "dispatch", claims: 0 });
  expect(row!.requires).toMatch(/^default\/code:proof-special@[0-9a-f]{16}$/);
  expect(await stage.log(runId)).toEqual([]);
  const capable = await stage.fleet.add("worker", { env });
  const { status, outputs, types } = await stage.ended(runId);
  expect({ status, outputs }).toEqual({ status: "completed", outputs: { special: true } });
  expect(types).toEqual(["lease.acquired", "run.started", "node.started", "node.completed", "run.completed"]);
  expect((await stage.log(runId))[0]!.payload).toMatchObject({ instanceId: capable.incarnation });
});

test("a cancel that races with the end 200 times: the answer agrees with how the run ended, once, and nothing is sent after it", async () => {
  const outcomes: { runId: string; answer: string; status: string }[] = [];
  let aimMs = 40; // follows the end of the runs, so that the cancels go on meeting it
  const one = async (index: number): Promise<void> => {
    const act = create();
    const runId = await stage.submit("proof-race", { tag: act.tag, firstMs: 40 });
    await begun(runId);
    await sleep(Math.max(0, aimMs + (index % 20) * 3 - 30));
    const answer = await stage.client.runs.cancel(runId).then(({ status }) => status as string, (error: unknown) => (error as { code: string }).code);
    const { status } = await stage.ended(runId);
    outcomes.push({ runId, answer, status });
    aimMs = Math.max(0, aimMs + (status === "completed" ? -6 : 6));
  };
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, (_, index) => one(index)));
  expect(outcomes).toHaveLength(200);
  const means: Record<string, string> = { cancelled: "cancelled", cancelling: "cancelled", run_terminal: "completed" };
  expect(outcomes.filter(({ answer, status }) => means[answer] !== status)).toEqual([]);
  const [cancelled, completed] = ["cancelled", "completed"].map((wanted) => outcomes.filter(({ status }) => status === wanted).length);
  expect(Math.min(cancelled!, completed!)).toBeGreaterThan(5); // both sides of the race were met
  const ended = new Map((await stage.sql<{ id: string; at: Date; launched: number }>(`select id, finished_at as at from runs where status = 'cancelled'`)).map(({ id, at }) => [id, at.getTime()]));
  const late = stage.noted().filter(({ what, runId, at }) => what === "launched" && at > (ended.get(bare(runId)) ?? Infinity) + 5);
  expect(late).toEqual([]);
});

test("and through all of it logs, executions and the outside ledger stand", async () => { await checkStanding(stage, { "status 0": 1 }); });
