import { afterAll, beforeAll, expect, test } from "vitest";
import { createActs } from "./stage/create-acts.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

let stage: Stage;
let create: ReturnType<typeof createActs>;
beforeAll(async () => {
  stage = await startStage({ workflows: "forks", name: "worker-forks" });
  create = createActs(stage);
});
afterAll(async () => { await stage.stop(); });

const seqOf = async (runId: string, type: string, nodeId?: string): Promise<number> => {
  const at = (await stage.log(runId)).findIndex((event) => event.type === type && (nodeId === undefined || event.payload["nodeId"] === nodeId));
  expect(at, `${type} of ${nodeId ?? "the run"}`).toBeGreaterThanOrEqual(0);
  return at;
};
const copied = (runId: string) => stage.sql("select seq, type, node_id, payload, at from run_events where run_id = $1 order by seq", [bare(runId)]);

test("a dead run branched before its failure with another input fires its effects anew under keys of its own, and completes", async () => {
  const act = create(() => ({ body: { receipt: "r" } }));
  const source = await stage.run("proof-fork", { tag: act.tag, broken: true });
  expect(source.status).toBe("failed");
  const fromSeq = await seqOf(source.runId, "node.completed", "first");
  const before = await copied(source.runId);
  const fork = await stage.client.runs.fork(source.runId, { mode: "branch", fromSeq, runOptionsOverlay: { inputs: { url: stage.receiver.url, tag: act.tag, amount: 7 } } });
  expect(fork).toMatchObject({ sourceRunId: source.runId, fromSeq, mode: "branch", status: "pending" });
  const { status, outputs } = await stage.ended(fork.runId);
  expect({ status, outputs }).toEqual({ status: "completed", outputs: { receipt: { receipt: "r" } } });
  expect((await copied(fork.runId)).slice(0, fromSeq)).toEqual(before.slice(0, fromSeq));
  expect((await stage.log(fork.runId))[fromSeq]!.type).not.toBe("node.completed");
  const keys = act.arrivals().map(({ key }) => key);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(2);
  expect(await copied(source.runId)).toEqual(before); // the source is untouched
  expect(await stage.letters(source.runId)).toHaveLength(1);
});

test("what was completed below the fork point is not executed again, and its output is handed on", async () => {
  const act = create(() => ({ body: { receipt: "kept" } }));
  const source = await stage.run("proof-fork", { tag: act.tag, broken: true });
  const fromSeq = await seqOf(source.runId, "node.started", "check");
  const fork = await stage.client.runs.fork(source.runId, { mode: "branch", fromSeq, runOptionsOverlay: { inputs: { url: stage.receiver.url, tag: act.tag } } });
  const { status, outputs } = await stage.ended(fork.runId);
  expect({ status, outputs }).toEqual({ status: "completed", outputs: { receipt: { receipt: "kept" } } });
  expect(stage.noted(fork.runId).filter(({ what }) => what === "began").map(({ nodeId }) => nodeId)).toEqual(["check", "last"]);
  expect(act.arrivals()).toHaveLength(1);
});

test("a replay executes anew, answers effects from the record, fires nothing and diverges nowhere; of a dead run it fails alike", async () => {
  const act = create(() => ({ body: { receipt: "r" } }));
  for (const broken of [false, true]) {
    const source = await stage.run("proof-fork", { tag: act.tag, broken });
    const sent = act.arrivals().length;
    const fork = await stage.client.runs.fork(source.runId, { mode: "replay" });
    const replay = await stage.ended(fork.runId);
    expect(replay).toMatchObject({ status: source.status, outputs: source.outputs, code: source.code });
    expect(replay.types).toEqual(source.types);
    expect(act.arrivals()).toHaveLength(sent);
    expect(await stage.effects(fork.runId)).toEqual([]);
    expect(stage.noted(fork.runId).some(({ what, nodeId }) => what === "began" && nodeId === "first")).toBe(true);
  }
});

test("a replay of an effect that was refused for good fails with the recorded code, once", async () => {
  const act = create();
  const source = await stage.run("proof-refused", { tag: act.tag });
  const fork = await stage.client.runs.fork(source.runId, { mode: "replay" });
  expect(await stage.ended(fork.runId)).toMatchObject({ status: "failed", code: "app.declined" });
  expect(act.arrivals()).toHaveLength(1);
});

test("a replay whose source recorded nothing of the node fails with replay_source_missing and tells that it diverged", async () => {
  const act = create(() => ({ then: "hang" }));
  const runId = await stage.submit("proof-fork", { tag: act.tag });
  await act.onTheWire();
  await stage.client.runs.cancel(runId);
  await stage.ended(runId);
  const fork = await stage.client.runs.fork(runId, { mode: "replay" });
  expect(fork.fromSeq).toBe(0);
  expect(await stage.ended(fork.runId)).toMatchObject({ status: "failed", code: "platform.replay_source_missing" });
  const log = await stage.log(fork.runId);
  expect(log.find(({ type }) => type === "node.failed")!.payload["error"]).toMatchObject({ code: "replay_source_missing" });
  expect(log.filter(({ type }) => type === "replay.diverged").map(({ payload }) => [payload["divergencePoint"], payload["divergenceKind"]]))
    .toEqual([["act", "not-recorded"], ["run", "event-type"]]);
  expect(log.at(-1)!.type).toBe("run.failed");
  expect(act.arrivals()).toHaveLength(1);
});

test("a node that says something else in a replay is told as diverged at the event it differs from, and the run goes on", async () => {
  const source = await stage.run("proof-fickle");
  const fork = await stage.client.runs.fork(source.runId, { mode: "replay" });
  expect((await stage.ended(fork.runId)).status).toBe("completed");
  const [original] = await stage.sql<{ seq: number; id: string }>("select seq, event_id as id from run_events where run_id = $1 and type = 'node.completed'", [bare(source.runId)]);
  expect((await stage.log(fork.runId)).filter(({ type }) => type === "replay.diverged").map(({ payload }) => payload)).toEqual([
    { sourceRunId: source.runId, atSequence: original!.seq, originalEventId: original!.id, divergenceKind: "outputs", divergencePoint: "only" },
  ]);
});

test("a fork at every point of a run, in both modes, ends as its source did, and a fork of a fork too", async () => {
  const source = await stage.run("conformance-multi-node");
  const log = await stage.log(source.runId);
  const forks = await Promise.all(log.flatMap((_, fromSeq) => (["branch", "replay"] as const).map((mode) => stage.client.runs.fork(source.runId, { mode, fromSeq }))));
  for (const { runId, fromSeq } of forks) {
    expect((await stage.ended(runId)).status, `from ${String(fromSeq)}`).toBe("completed");
    const own = await stage.log(runId);
    expect(own.filter(({ type }) => type === "run.started")).toHaveLength(1);
    expect(own.filter(({ type }) => type === "replay.diverged")).toEqual([]);
    expect(own[fromSeq]!.type === log[fromSeq]!.type && own[fromSeq]!.type === "node.completed").toBe(false);
  }
  const again = await stage.client.runs.fork(forks.at(-1)!.runId, { mode: "replay", fromSeq: 3 });
  expect((await stage.ended(again.runId)).status).toBe("completed");
  const dead = await stage.run("conformance-failure");
  for (let fromSeq = 0; fromSeq < dead.types.length; fromSeq++) {
    const { runId } = await stage.client.runs.fork(dead.runId, { mode: "replay", fromSeq });
    expect((await stage.ended(runId)).status).toBe("failed");
  }
});
