import { createTestDatabase, loseReplies, startProxy, until, type Proxy, type TestDatabase } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { createActs } from "./stage/create-acts.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

// The worker reaches Postgres through a proxy; the sessions that prove its life do not.
let database: TestDatabase;
let proxy: Proxy;
let stage: Stage;
let create: ReturnType<typeof createActs>;
const SEND_GRACE_MS = 1_000;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startProxy(database.url);
  stage = await startStage({
    workflows: "effects", name: "worker-lost-replies", databaseUrl: database.url, workers: 0,
    env: { MAINSTAY_SEND_GRACE_MS: String(SEND_GRACE_MS), DATABASE_DIRECT_URL: database.url },
  });
  await stage.fleet.add("worker", { env: { DATABASE_URL: proxy.through(database.url) } });
  create = createActs(stage);
});
afterAll(async () => {
  await stage.stop();
  await proxy.stop();
  await database.drop();
});

/** Loses the replies of the next `times` executions of this statement, and only those. */
function lose(statement: string, times: number): { lost: () => number } {
  let lost = 0;
  proxy.inspect(loseReplies({ of: (name) => name === statement, times, onLost: () => { lost += 1; } }));
  return { lost: () => lost };
}

test("a run whose earlier nodes could not be read is read again by its holder, and goes on", async () => {
  const act = create((index) => (index === 0 ? { status: 402 } : {}));
  const losses = lose("runs.load", 3); // asked once a run is claimed again, here after a back-off
  const { status, runId } = await stage.run("proof-effect-patient", { tag: act.tag });
  expect([status, losses.lost()]).toEqual(["completed", 3]);
  expect(await stage.sql("select crashes, losses, claims from runs where id = $1", [bare(runId)])).toEqual([{ crashes: 0, losses: 0, claims: 2 }]);
  expect(act.arrivals()).toHaveLength(2);
});

test("a launch whose reply was lost sends nothing of it: it is absent, launched again, and arrives once", async () => {
  const act = create();
  const losses = lose("effects.launch", 1);
  const { status, runId } = await stage.run("proof-effect", { tag: act.tag });
  expect([status, losses.lost(), act.arrivals().length]).toEqual(["completed", 1, 1]);
  expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 2, via: "answer" }]);
});

test("a repeated launch whose reply was lost sends nothing of it either, and is neither a failure nor unknown", async () => {
  const act = create((index) => (index === 0 ? { status: 402 } : {}));
  const losses = lose("effects.relaunch", 1);
  const { status, runId } = await stage.run("proof-effect", { tag: act.tag });
  expect([status, losses.lost(), act.arrivals().length]).toEqual(["completed", 1, 2]);
  expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 3 }]);
  expect((await stage.log(runId)).filter(({ type }) => type === "node.retried")).toHaveLength(1);
});

test("a settlement whose reply was lost is repeated and changes nothing", async () => {
  const act = create();
  const losses = lose("effects.settle", 3);
  const { status, runId } = await stage.run("proof-effect", { tag: act.tag });
  expect([status, losses.lost(), act.arrivals().length]).toEqual(["completed", 3, 1]);
  expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 1 }]);
});

test("an execution that is over when its launch is answered sends nothing: the effect is absent and the next attempt acts", async () => {
  const act = create();
  const runId = await stage.submit("proof-late-launch", { tag: act.tag });
  await until("the node to be about to act", () => stage.noted(runId).some(({ what }) => what === "acts"));
  proxy.halfOpen(); // the launch is committed; the node's time is over before its reply comes, the send grace is not
  await until("the node's time to be over", () => stage.noted(runId).some(({ what, attempt }) => what === "aborted" && attempt === 0));
  proxy.heal();
  const { status } = await stage.ended(runId);
  expect([status, act.arrivals().length]).toEqual(["completed", 1]);
  expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 2 }]);
  expect(stage.noted(runId).filter(({ what }) => what === "launched").map(({ launch }) => launch)).toEqual([2]);
  expect(await stage.letters(runId)).toEqual([]);
});

test("and through all of it logs, executions and the outside ledger stand", async () => {
  proxy.inspect(undefined);
  await checkStanding(stage);
});
