import { until } from "@mainstay/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { createActs } from "./stage/create-acts.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

const DRAIN_MS = 1_500;
let stage: Stage;
beforeEach(async () => { stage = await startStage({ workflows: "lives", name: "worker-drain", env: { MAINSTAY_DRAIN_MS: String(DRAIN_MS) } }); });
afterEach(async () => { await stage.stop(); });

const begun = (runId: string) => until(`${runId} to begin`, () => stage.noted(runId).find(({ what }) => what === "began"));
const countersOf = async (runId: string) =>
  (await stage.sql<{ crashes: number; losses: number; handBacks: number; claims: number }>(`select crashes, losses, hand_backs as "handBacks", claims from runs where id = $1`, [bare(runId)]))[0]!;

test("a worker told to end finishes what fits into its drain, hands the rest back at its end, claims nothing more, and exits with 0", async () => {
  const create = createActs(stage);
  const act = create((index) => (index === 0 ? { then: "hang" } : {}));
  const [fits, outlasts, deaf, sent] = await Promise.all([
    stage.submit("proof-hold", { holdMs: 700 }), stage.submit("proof-hold", { holdMs: 30_000 }),
    stage.submit("proof-hold", { holdMs: 30_000, deaf: true }), stage.submit("proof-act", { tag: act.tag, class: "idempotent_write", timeoutMs: 20_000 }),
  ]);
  await Promise.all([fits, outlasts, deaf].map(begun));
  await act.onTheWire();
  const [leaving] = stage.fleet.of("worker");
  const toldAt = performance.now();
  leaving!.send("SIGTERM");
  await until("the database to know that it drains", async () => (await stage.sql("select 1 from incarnations where id = $1 and draining_at is not null", [leaving!.incarnation]))[0]);
  const later = await Promise.all(Array.from({ length: 20 }, () => stage.submit("proof-quick")));
  expect(await leaving!.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - toldAt).toBeLessThan(DRAIN_MS + 3_000);

  expect(await stage.sql("select id from runs where owner is not null")).toEqual([]);
  expect(await countersOf(outlasts)).toEqual({ crashes: 0, losses: 0, handBacks: 1, claims: 1 });
  expect(await countersOf(deaf)).toEqual({ crashes: 0, losses: 0, handBacks: 1, claims: 1 });
  // its first node was finished within the drain; what comes after begins at a peer
  expect(stage.noted(fits).map(({ what, nodeId }) => `${nodeId} ${what}`)).toEqual(["hold began", "hold left"]);
  expect(await countersOf(fits)).toMatchObject({ crashes: 0, losses: 0, claims: 1 });
  expect(stage.noted(outlasts).map(({ what }) => what)).toEqual(["began", "aborted", "left"]);
  const claimed = await stage.sql("select run_id from run_events where type = 'lease.acquired' and run_id = any($1::uuid[])", [later.map(bare)]);
  expect(claimed).toEqual([]);

  await stage.fleet.add("worker");
  const all = [fits, outlasts, deaf, sent, ...later];
  expect(new Set((await stage.waitEnded(all)).values())).toEqual(new Set(["completed"]));
  const restored = (await stage.log(outlasts)).find(({ type }) => type === "workflow.restored");
  expect(restored?.payload).toMatchObject({ "x-trigger": "handed_back", "x-previous-instance-id": leaving!.incarnation });
  // the request that was on the wire was left launched, and sent again under its key
  expect([act.arrivals().length, new Set(act.arrivals().map(({ key }) => key)).size]).toEqual([2, 1]);
  expect(await countersOf(sent)).toMatchObject({ crashes: 0 });
  await checkStanding(stage, { "status 0": 1 });
});

test("a second signal only shortens the drain", async () => {
  const runId = await stage.submit("proof-hold", { holdMs: 30_000 });
  await begun(runId);
  const [leaving] = stage.fleet.of("worker");
  const toldAt = performance.now();
  leaving!.send("SIGTERM");
  await until("the drain to begin", async () => (await stage.sql("select 1 from incarnations where id = $1 and draining_at is not null", [leaving!.incarnation]))[0]);
  expect(await leaving!.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(performance.now() - toldAt).toBeLessThan(DRAIN_MS);
  expect(await countersOf(runId)).toEqual({ crashes: 0, losses: 0, handBacks: 1, claims: 1 });
  await stage.fleet.add("worker");
  expect((await stage.ended(runId)).status).toBe("completed");
  await checkStanding(stage, { "status 0": 1 });
});
