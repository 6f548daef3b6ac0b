import { setTimeout as sleep } from "node:timers/promises";
import { requestStop, takeOver } from "@mainstay/database";
import { ownFixtures } from "@mainstay/domain";
import { defineWorkflow, type NodeContext } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlace, openWorker, type Place } from "./open-worker.js";

const WIDTH = 50;
const ROUNDS = 10;

/** What really ran in this process, entry by entry: stored state would hide a double execution. */
const entries: { runId: string; node: string; fence: string; started: boolean }[] = [];
let place: Place;
let release: (() => void)[] = [];

/** Notes an entry, and whether the attempt stood in the database before the code ran. */
async function enter({ run, fence }: NodeContext, node: string): Promise<void> {
  const id = run.id.slice(run.id.indexOf("/") + 1);
  const stored = await place.sql("select from run_events where run_id = $1 and type = 'node.started' and node_id = $2 and fence = $3", [id, node, fence]);
  entries.push({ runId: id, node, fence, started: stored.length === 1 });
}

const branches = Array.from({ length: WIDTH }, (_, i) => `branch${i}`);
let atGate: (() => void)[] = [];

const fanOut = defineWorkflow({
  id: "fan-out", version: "1",
  nodes: {
    ...Object.fromEntries(branches.map((name) => [name, {
      run: async (context: NodeContext) => {
        await enter(context, name);
        // all branches end in one tick
        await new Promise<void>((open) => {
          atGate.push(open);
          if (atGate.length === WIDTH) {
            for (const go of atGate) go();
            atGate = [];
          }
        });
        return { name };
      },
    }])),
    join: { after: branches, run: (context: NodeContext) => enter(context, "join") },
  },
});

const chain = defineWorkflow({
  id: "chain", version: "1",
  nodes: {
    a: { run: (context: NodeContext) => enter(context, "a") },
    b: { after: ["a"], run: (context: NodeContext) => enter(context, "b") },
    c: { after: ["b"], run: (context: NodeContext) => enter(context, "c") },
  },
});

const waiting = defineWorkflow({
  id: "waiting", version: "1",
  nodes: {
    wait: {
      run: async (context: NodeContext) => {
        await enter(context, "wait");
        await new Promise<void>((open, stop) => {
          release.push(open);
          context.signal.addEventListener("abort", () => { stop(new Error("told to stop")); });
        });
        return { done: true };
      },
    },
  },
});

/** Short waits and retries beside a chain of steps: every step acknowledges a write while the waits go on. */
const waits = Array.from({ length: 8 }, (_, i) => `wait${i}`);
const steps = Array.from({ length: 12 }, (_, i) => `step${i}`);
const busyWaits = defineWorkflow({
  id: "busy-waits", version: "1",
  nodes: {
    ...Object.fromEntries(waits.map((name, i) => [name, { type: "core.delay" as const, config: { delayMs: 260 + 20 * i } }])),
    ...Object.fromEntries(steps.map((name, i) => [name, { after: i === 0 ? [] : [`step${i - 1}`], run: async () => { await sleep(40); } }])),
    again: { retry: { maxRetries: 3, baseMs: 60 }, run: (context: NodeContext) => { if (context.attempt < 2) throw context.failure("platform.dependency_unavailable"); } },
    far: { type: "core.delay" as const, config: { delayMs: 2 ** 31 + 5_000 } },
  },
});

beforeAll(async () => {
  place = await openPlace([...[fanOut, chain, waiting, busyWaits].map((workflow) => ({ document: workflow.document, workflow })), ...ownFixtures.map((document) => ({ document }))]);
});
afterAll(() => place.close());

const entriesOf = (runId: string) => entries.filter((one) => one.runId === runId);
const log = async (runId: string) => (await place.sql<{ type: string; node_id: string | null }>("select type, node_id from run_events where run_id = $1 order by seq", [runId])).map(({ type, node_id: node }) => (node === null ? type : `${type} ${node}`));

async function dense(runId: string): Promise<void> {
  expect(await place.sql("select count(*)::int = max(seq) + 1 as dense, count(*)::int = (select event_seq from runs r where r.id = $1) as counted from run_events where run_id = $1", [runId])).toEqual([{ dense: true, counted: true }]);
}

test("fifty nodes that end in one tick become one write, and everything acknowledged is stored", async () => {
  const worker = await openWorker(place);
  for (let round = 0; round < ROUNDS; round++) {
    const runId = await place.accept("fan-out");
    await worker.sweep();
    await until("the whole fan-out to be acknowledged", () => worker.acknowledged.some((one) => one.runId === runId && one.write.nodes.length >= WIDTH));
    // acknowledged first: what is acknowledged later need not be stored yet; then what a process killed at this instant would have left behind
    const acknowledged = worker.acknowledged.filter((one) => one.runId === runId).flatMap(({ write }) => write.nodes.filter(({ status }) => status === "completed").map(({ node }) => node));
    const stored = new Set((await place.sql<{ node_id: string }>("select node_id from run_nodes where run_id = $1 and status = 'completed'", [runId])).map(({ node_id: node }) => node));
    expect(acknowledged.filter((node) => !stored.has(node))).toEqual([]);
    expect(await place.ended(runId)).toBe("completed");
    expect(entriesOf(runId).map(({ node }) => node).sort()).toEqual([...branches, "join"].sort());
    const told = await log(runId);
    for (const name of branches) expect(told.filter((line) => line === `node.completed ${name}`)).toHaveLength(1);
    await dense(runId);
  }
});

test("a node's attempt stands in the database before its code runs", async () => {
  const worker = await openWorker(place);
  const runId = await place.accept("chain");
  await worker.sweep();
  expect(await place.ended(runId)).toBe("completed");
  expect(entriesOf(runId).map(({ node, started }) => ({ node, started }))).toEqual([{ node: "a", started: true }, { node: "b", started: true }, { node: "c", started: true }]);
  expect(await log(runId)).toEqual([
    "lease.acquired", "run.started", "node.started a", "node.completed a", "node.started b", "node.completed b", "node.started c", "node.completed c", "run.completed",
  ]);
});

test("a run that was taken over while its node ran is dropped by its first holder, which writes nothing", async () => {
  const [first, second] = [await openWorker(place), await openWorker(place)];
  const runId = await place.accept("waiting");
  await first.sweep();
  await until("the node to run", () => release.length === 1);
  await place.sql("update incarnations set lapsed_at = now(), held_at_lapse = 1 where id = $1", [first.incarnation]);
  await takeOver(place.db, { incarnations: [first.incarnation], limits: { crashLimit: 5, lossLimit: 20, handBackLimit: 20, backoffBaseMs: 1_000, retentionDays: 30 } });
  expect(await second.sweep()).toBe(1);
  await until("the node to run at the second holder", () => release.length === 2);
  release.shift()?.();
  await until("the first holder to notice", () => first.fenced.length === 1);
  expect(first.held.byId.size).toBe(0);
  release.shift()?.();
  expect(await place.ended(runId)).toBe("completed");
  expect(entriesOf(runId).map(({ fence }) => fence)).toEqual(["1", "3"]);
  expect((await log(runId)).filter((line) => line === "node.completed wait")).toHaveLength(1);
  await dense(runId);
});

test("a cancel tells the code and ends the run cancelled, once", async () => {
  release = [];
  const worker = await openWorker(place);
  const runId = await place.accept("waiting");
  await worker.sweep();
  await until("the node to run", () => release.length === 1);
  expect(await requestStop(place.db, { runId, workspace: "acme", by: "k", reason: "enough" })).toEqual({ kind: "asked" });
  worker.runs.stop(worker.held.byId.get(runId)!);
  expect(await place.ended(runId)).toBe("cancelled");
  release = [];
  expect((await log(runId)).slice(-2)).toEqual(["node.cancelled wait", "run.cancelled"]);
});

test("a run whose node fails for good is retried by its bound, then fails with its dead letter in one statement", async () => {
  const worker = await openWorker(place);
  const runId = await place.accept("mainstay-exhaust");
  await worker.sweep();
  expect(await place.ended(runId)).toBe("failed");
  expect((await log(runId)).slice(-3)).toEqual(["node.failed fail", "run.dead-lettered fail", "run.failed"]);
  expect((await log(runId)).filter((line) => line === "node.started fail")).toHaveLength(3);
  expect(await place.sql(
    `select d.class, d.code, d.disposition, d.attempts, jsonb_array_length(d.retry_history) as history, d.xmin::text = e.xmin::text as together
     from dead_letters d join run_events e on e.run_id = d.run_id and e.type = 'run.failed' where d.run_id = $1`, [runId]))
    .toEqual([{ class: "TRANSIENT", code: "platform.dependency_unavailable", disposition: "retry_exhausted", attempts: 3, history: 3, together: true }]);
  expect(await place.sql("select attempts, failures from run_nodes where run_id = $1", [runId])).toEqual([{ attempts: 3, failures: 3 }]);
});

test("a run that recovers within its bound completes without a dead letter", async () => {
  const worker = await openWorker(place);
  const runId = await place.accept("mainstay-recover");
  await worker.sweep();
  expect(await place.ended(runId)).toBe("completed");
  expect(await place.sql("select from dead_letters where run_id = $1", [runId])).toEqual([]);
  expect(await place.sql("select attempts, failures from run_nodes where run_id = $1", [runId])).toEqual([{ attempts: 3, failures: 2 }]);
});

test("many runs at once each end once, and every execution of theirs is entered once", async () => {
  const worker = await openWorker(place);
  const runIds = await Promise.all(Array.from({ length: 60 }, () => place.accept("chain")));
  while ((await worker.sweep()) > 0) await sleep(1); // lets them begin
  for (const runId of runIds) expect(await place.ended(runId)).toBe("completed");
  const counted = new Map<string, number>();
  for (const { runId, node, fence } of entries.filter((one) => runIds.includes(one.runId))) counted.set(`${runId} ${node} ${fence}`, (counted.get(`${runId} ${node} ${fence}`) ?? 0) + 1);
  expect(counted.size).toBe(180);
  expect([...counted.values()].every((count) => count === 1)).toBe(true);
});

test("waits beside nodes that execute come due once, and a wait longer than a timer holds does not come early", async () => {
  const worker = await openWorker(place);
  const runId = await place.accept("busy-waits");
  await worker.sweep();
  await until("the steps and waits to complete", async () => (await log(runId)).filter((line) => line.startsWith("node.completed")).length === waits.length + steps.length + 1);
  const told = await log(runId);
  for (const name of [...waits, ...steps]) {
    expect(told.filter((line) => line === `node.started ${name}`), name).toHaveLength(1);
    expect(told.filter((line) => line === `node.completed ${name}`), name).toHaveLength(1);
  }
  expect(told.filter((line) => line === "node.started again")).toHaveLength(3);
  expect(told).not.toContain("node.completed far");
  await dense(runId);
  await requestStop(place.db, { runId, workspace: "acme", by: "k" });
});

test("a drain or a cancel that comes before a run's nodes are known plans nothing from an empty memory", async () => {
  const first = await openWorker(place);
  const runId = await place.accept("waiting");
  release = [];
  await first.sweep();
  await until("the node to run", () => release.length === 1);
  await place.sql("update incarnations set lapsed_at = now(), held_at_lapse = 1 where id = $1", [first.incarnation]);
  await takeOver(place.db, { incarnations: [first.incarnation], limits: { crashLimit: 5, lossLimit: 20, handBackLimit: 20, backoffBaseMs: 1_000, retentionDays: 30 } });
  let pass: () => void = () => undefined;
  const gate = new Promise<void>((open) => { pass = open; });
  const second = await openWorker(place, { db: { query: async (statement, values) => {
    if (statement.name === "runs.load") await gate;
    return place.db.query(statement, values);
  } } });
  expect(await second.sweep()).toBe(1);
  second.runs.yieldIdle();
  second.runs.stop(second.held.byId.get(runId)!);
  await sleep(100);
  expect(second.acknowledged).toEqual([]);
  pass();
  expect(await place.ended(runId)).toBe("cancelled");
  expect((await log(runId)).slice(-2)).toEqual(["node.cancelled wait", "run.cancelled"]);
  await dense(runId);
});
