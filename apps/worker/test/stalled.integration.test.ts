import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { createActs } from "./stage/create-acts.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

let stage: Stage;
beforeAll(async () => { stage = await startStage({ workflows: "lives", name: "worker-stalled", workers: 2 }); });
afterAll(async () => { await stage.stop(); });

const owner = async (runId: string) => (await stage.sql<{ owner: string | null }>("select owner from runs where id = $1", [bare(runId)]))[0]!.owner;
const takenOver = (runId: string, from: string) => until(`${runId} to be taken from ${from}`, async () => {
  const acquired = (await stage.log(runId)).filter(({ type }) => type === "lease.acquired").at(-1);
  return acquired !== undefined && acquired.payload["instanceId"] !== from;
});

/** Runs go by until one of them has been executed by this process. */
const takesRunsAgain = (pid: number) => until(`process ${pid} to execute a run again`, async () => {
  const { runId } = await stage.run("proof-quick");
  return stage.noted(runId).some((line) => line.pid === pid);
});

test("a worker frozen after it has sent leaves evidence when it thaws: the peer that waited reuses the answer, one arrival, no dead letter", async () => {
  const create = createActs(stage);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => { answer = resolve; });
  const act = create(() => ({ until: answered }));
  const runId = await stage.submit("proof-act", { tag: act.tag, timeoutMs: 20_000 });
  await act.onTheWire();
  const first = await stage.holderOf(runId);
  first.freeze();
  await takenOver(runId, first.incarnation);
  await until("the peer to wait for the quiet instant without a slot", async () => {
    const [row] = await stage.sql("select 1 from runs where id = $1 and owner is null and status = 'waiting-external' and waiting_on = 'reconciliation'", [bare(runId)]);
    return row;
  });
  answer();
  await until("the answer to lie at the frozen worker", () => act.arrivals()[0]!.outcome === 200);
  first.thaw();
  const { status } = await stage.ended(runId, 10_000); // long before the quiet instant
  expect(status).toBe("completed");
  expect(act.arrivals()).toHaveLength(1);
  expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", via: "answer" }]);
  expect(await stage.letters(runId)).toEqual([]);
  expect((await stage.log(runId)).find(({ type }) => type === "workflow.restored")?.payload).toMatchObject({ "x-trigger": "heartbeat_expired", "x-previous-instance-id": first.incarnation });
  await takesRunsAgain(first.pid);
});

test("a request that cannot leave within the send grace settles as absent and is launched again: one arrival", async () => {
  const act = createActs(stage)();
  const { status, runId } = await stage.run("proof-late", { tag: act.tag });
  expect([status, act.arrivals().length]).toEqual(["completed", 1]);
  const [effect] = await stage.effects(runId);
  expect(effect!.state).toBe("confirmed");
  expect(effect!.launchNo).toBeGreaterThan(1);
  expect(stage.noted(runId).filter(({ what }) => what === "launched").map(({ launch }) => launch)).toEqual([effect!.launchNo]);
});

test.each([1_500, 5_000])("an event loop that stands still for %i ms keeps its run or is fenced off, and its worker lives on and takes other runs", async (forMs) => {
  const runId = await stage.submit("proof-burn", { forMs });
  const holder = await until("the burning", async () => stage.noted(runId).find(({ nodeId, what }) => nodeId === "burn" && what === "began"));
  const before = await owner(runId);
  const { status } = await stage.ended(runId);
  expect(status).toBe("completed");
  const log = await stage.log(runId);
  const keeps = log.filter(({ type }) => type === "lease.acquired").length === 1;
  if (forMs > 3_000) {
    expect(keeps).toBe(false); // wedged after 2 s, lapsed a lease later
    expect(log.find(({ type }) => type === "workflow.restored")?.payload).toMatchObject({ "x-trigger": "loop_wedged", "x-previous-instance-id": before });
  }
  expect(log.filter(({ type, nodeId }) => type === "node.completed" && nodeId === "burn")).toHaveLength(1);
  for (const key of ["before", "later"]) expect(stage.receiver.accepted().get(`${runId} ${key}`)).toBe(1);
  await takesRunsAgain(holder.pid);
  const living = await stage.sql<{ id: string }>("select id from incarnations where role = 'worker' and lapsed_at is null and ended_at is null");
  expect(living).toHaveLength(2);
  expect(living.some(({ id }) => id === before)).toBe(keeps);
});

test("and through all of it logs, executions and the outside ledger stand", async () => { await checkStanding(stage); });
