import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startReceiver, until } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { createActs } from "./stage/create-acts.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

let stage: Stage;
let create: ReturnType<typeof createActs>;
beforeAll(async () => {
  // a send grace that a busy machine does not pass: launches are counted here
  stage = await startStage({ workflows: "effects", name: "worker-effects", env: { MAINSTAY_SEND_GRACE_MS: "1000" } });
  create = createActs(stage);
});
afterAll(async () => { await stage.stop(); });

const keys = (arrivals: readonly { key: string }[]) => new Set(arrivals.map(({ key }) => key)).size;
const started = async (runId: string) => (await stage.log(runId)).filter(({ type }) => type === "node.started").length;
const times = async (runId: string) => {
  const [row] = await stage.sql<{ sinceQuietMs: number }>(
    `select extract(epoch from r.finished_at - e.quiet_at)::float8 * 1000 as "sinceQuietMs" from runs r join effects e on e.run_id = r.id where r.id = $1`, [bare(runId)]);
  return row!;
};
/** The address of a port that nobody listens on. */
const nobody = async () => {
  const { url, stop } = await startReceiver();
  await stop();
  return url;
};
const unknown = { scope: "run", class: "UNKNOWN", code: "platform.effect_outcome_unconfirmed", disposition: "outcome_unknown", state: "RECONCILIATION_REQUIRED" };

describe.concurrent("an effect is named", () => {
  test("and its key, used twice in one execution, is refused", async () => {
    const act = create();
    const { status, code, runId } = await stage.run("proof-twice", { tag: act.tag });
    expect({ status, code, arrivals: act.arrivals().length }).toEqual({ status: "failed", code: "platform.contract_mismatch", arrivals: 1 });
    expect(await stage.letters(runId)).toMatchObject([{ class: "DEFECT", disposition: "handler_error" }]);
  });

  test("and none is performed inside another", async () => {
    const act = create();
    const { status, code, runId } = await stage.run("proof-inside", { tag: act.tag, class: "idempotent_write" });
    expect({ status, code, arrivals: act.arrivals().length }).toEqual({ status: "failed", code: "platform.contract_mismatch", arrivals: 0 });
    expect(await stage.effects(runId)).toMatchObject([{ key: "outer" }]);
  });

  test("with a digest: another request under its business key is a conflicting duplicate, and nothing is sent", async () => {
    const act = create();
    const first = await stage.run("proof-effect", { tag: act.tag, businessKey: act.tag, request: { amount: 1 } });
    const second = await stage.run("proof-effect", { tag: act.tag, businessKey: act.tag, request: { amount: 2 } });
    expect([first.status, second.status, second.code]).toEqual(["completed", "failed", "platform.conflicting_duplicate"]);
    expect(await stage.letters(second.runId)).toMatchObject([{ class: "POISONED_INPUT", state: "INPUT_REPAIR_REQUIRED" }]);
    expect(act.arrivals()).toHaveLength(1);
  });

  test("by a business key that two runs share: one request, one answer for both", async () => {
    const act = create();
    const input = { tag: act.tag, businessKey: act.tag, request: {} };
    const [first, second] = [await stage.run("proof-effect", input), await stage.run("proof-effect", input)];
    expect([first.status, second.status]).toEqual(["completed", "completed"]);
    expect(second.outputs).toEqual(first.outputs);
    expect(act.arrivals()).toHaveLength(1);
  });

  test.each([false, true])("and a run that meets another's launch waits without a slot until the settlement wakes it, also where its code catches errors: %s", async (swallow) => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => { answer = resolve; });
    const act = create(() => ({ until: answered }));
    const first = await stage.submit("proof-effect", { tag: act.tag, businessKey: act.tag, request: {} });
    await act.onTheWire();
    const second = await stage.submit("proof-effect", { tag: act.tag, businessKey: act.tag, request: {}, swallow });
    const { due } = await until("the second run to wait", async () => {
      const [row] = await stage.sql<{ due: Date }>("select due_at as due from runs where id = $1 and owner is null and status = 'waiting-external' and waiting_on = 'effect' and waiting_effect is not null", [bare(second)]);
      return row;
    });
    answer();
    const [a, b] = await Promise.all([stage.ended(first), stage.ended(second)]);
    expect([a.status, b.status]).toEqual(["completed", "completed"]);
    expect(b.outputs).toEqual(a.outputs);
    expect(act.arrivals()).toHaveLength(1);
    const [woken] = await stage.sql<{ inbox: number; due: Date }>("select inbox_seq as inbox, due_at as due from runs where id = $1", [bare(second)]);
    expect(woken!.inbox).toBeGreaterThanOrEqual(1);
    expect(woken!.due.getTime()).not.toBe(due.getTime()); // made due by the settlement, or by a look before it
    expect(await started(second)).toBe(1); // the suspended attempt went on
  });
});

test.each([{ timeoutMs: -5 }, { timeoutMs: 1.5 }, { timeoutMs: 3_600_001 }, { class: "sometimes" }, { businessKey: "" }, { keyRetentionMs: 0 }])("an effect declared out of bounds is refused before it stands in the ledger: %o", async (declared) => {
  const act = create();
  const { status, code, runId } = await stage.run("proof-effect", { tag: act.tag, ...declared });
  expect({ status, code, arrivals: act.arrivals().length }).toEqual({ status: "failed", code: "platform.contract_mismatch", arrivals: 0 });
  expect(await stage.effects(runId)).toEqual([]);
  expect(await stage.letters(runId)).toMatchObject([{ class: "DEFECT", attempts: 1 }]);
});

describe.concurrent("an effect that was refused for sure", () => {
  test("by the code is absent, and is launched again under the same key", async () => {
    const act = create((index) => (index === 0 ? { status: 402 } : {}));
    const { status, runId } = await stage.run("proof-effect", { tag: act.tag });
    expect(status).toBe("completed");
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 2, via: "answer" }]);
    expect([act.arrivals().length, keys(act.arrivals())]).toEqual([2, 1]);
    expect(await started(runId)).toBe(2);
  });

  test("by a connection that nobody took is absent, and is launched again", async () => {
    const act = create();
    const { status, runId } = await stage.run("proof-effect", { tag: act.tag, deadUrl: await nobody() });
    expect(status).toBe("completed");
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 2 }]);
    expect(act.arrivals()).toHaveLength(1);
  });

  test.each([[422, "platform.unclassified", 1], [429, "app.none", 2]])("with %i is absent, never unknown", async (answered, code, launches) => {
    const act = create((index) => (index === 0 ? { status: answered } : {}));
    const ended = await stage.run("proof-effect", { tag: act.tag });
    expect(ended.status).toBe(launches === 1 ? "failed" : "completed");
    if (launches === 1) expect(ended.code).toBe(code);
    expect(await stage.effects(ended.runId)).toMatchObject([{ state: launches === 1 ? "absent" : "confirmed", launchNo: launches }]);
    expect(act.arrivals()).toHaveLength(launches);
  });
});

test("an http.request that is asked to wait is absent, and is not sent again before the instant the other side named", async () => {
  const at: number[] = [];
  const server = createServer((request, response) => {
    at.push(performance.now());
    request.resume();
    response.writeHead(at.length === 1 ? 429 : 200, { "retry-after": "2" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => { server.close(); server.closeAllConnections(); });
  const { port } = server.address() as AddressInfo;
  const { status, runId } = await stage.run("proof-http", { url: `http://127.0.0.1:${port}`, tag: "wait" });
  expect(status).toBe("completed");
  expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 2 }]);
  expect(at).toHaveLength(2);
  expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(1_990);
});

describe.concurrent("an effect without an answer", () => {
  test("that is an idempotent write is sent again under the same key", async () => {
    const act = create(() => ({ then: "hang" }));
    const { status, runId } = await stage.run("proof-effect", { tag: act.tag, class: "idempotent_write", timeoutMs: 400 });
    expect(status).toBe("completed");
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 2 }]);
    expect([act.arrivals().length, keys(act.arrivals()), act.arrivals().filter(({ accepted }) => accepted).length]).toEqual([2, 1, 1]);
  });

  test("whose key the destination has forgotten counts as non-idempotent: it is given up after the quiet instant", async () => {
    const act = create(() => ({ then: "hang" }));
    const { status, runId } = await stage.run("proof-effect", { tag: act.tag, class: "idempotent_write", timeoutMs: 600, keyRetentionMs: 100 });
    expect(status).toBe("failed");
    expect(await stage.letters(runId)).toMatchObject([unknown]);
    expect(act.arrivals()).toHaveLength(1);
    expect((await times(runId)).sinceQuietMs).toBeGreaterThanOrEqual(0);
    expect(await stage.effects(runId)).toMatchObject([{ state: "unknown", launchNo: 1 }]);
  });

  test("that only reads is repeated freely", async () => {
    const act = create((index) => (index < 2 ? { status: 503 } : {}));
    const { status, runId } = await stage.run("proof-effect", { tag: act.tag, class: "read_only", method: "GET" });
    expect(status).toBe("completed");
    expect(act.arrivals()).toHaveLength(3);
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 3 }]);
  });

  test("of a write that must not be repeated, and nobody to ask: its run fails with its outcome unknown", async () => {
    const act = create(() => ({ then: "reset" }));
    const { status, runId } = await stage.run("proof-effect", { tag: act.tag });
    expect(status).toBe("failed");
    expect(await stage.letters(runId)).toMatchObject([unknown]);
    expect(act.arrivals()).toHaveLength(1);
  });

  test("of a write that must not be repeated is asked about after the quiet instant and reused when it happened", async () => {
    const act = create(() => ({ then: "reset" }), () => ({ happened: true, result: { receipt: "found" } }));
    const { status, outputs, runId } = await stage.run("proof-effect", { tag: act.tag, reconcile: true, timeoutMs: 700 });
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { receipt: "found" } });
    expect([act.arrivals().length, act.asks().length]).toEqual([1, 1]);
    expect(act.asks()[0]!.at - act.arrivals()[0]!.at).toBeGreaterThanOrEqual(700);
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", via: "reconciler", launchNo: 1 }]);
    expect(await started(runId)).toBe(1);
  });

  test("that comes to nothing every time is a failed attempt from its second launch on, so that its retries end", async () => {
    const act = create(() => ({ status: 500, then: "reset" }), () => ({ happened: false }));
    const { status, code, runId } = await stage.run("proof-once-retried", { tag: act.tag, reconcile: true, timeoutMs: 300 });
    expect({ status, code }).toEqual({ status: "failed", code: "platform.dependency_unavailable" });
    expect([act.arrivals().length, act.asks().length]).toEqual([3, 3]);
    expect(await stage.letters(runId)).toMatchObject([{ class: "TRANSIENT", disposition: "retry_exhausted", attempts: 2 }]);
    expect(await stage.effects(runId)).toMatchObject([{ state: "absent" }]);
  });

  test("when the node's time is over is asked about, not given up", async () => {
    const act = create(() => ({ then: "hang" }), () => ({ happened: true, result: { receipt: "found" } }));
    const { status, outputs } = await stage.run("proof-impatient", { tag: act.tag, reconcile: true, timeoutMs: 800 });
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { receipt: "found" } });
    expect(act.asks()[0]!.at - act.arrivals()[0]!.at).toBeGreaterThanOrEqual(800);
    expect(act.arrivals()).toHaveLength(1);
  });

  test("when the node's time is over, and nobody to ask: its run fails with its outcome unknown", async () => {
    const act = create(() => ({ then: "hang" }));
    const { status, runId } = await stage.run("proof-impatient", { tag: act.tag });
    expect(status).toBe("failed");
    expect(await stage.letters(runId)).toMatchObject([unknown]);
    expect(act.arrivals()).toHaveLength(1);
  });

  test("when the node returns is unknown, and the answer that comes later is kept as evidence", async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => { answer = resolve; });
    const act = create(() => ({ until: answered }));
    const { status, types, runId } = await stage.run("proof-careless", { tag: act.tag });
    expect(status).toBe("failed");
    expect(await stage.letters(runId)).toMatchObject([unknown]);
    expect(await stage.effects(runId)).toMatchObject([{ state: "unknown" }]);
    answer();
    expect((await stage.log(runId)).map(({ type }) => type)).toEqual(types);
  });

  test.each(["proof-effect", "proof-http"])("because the destination is at it under our own key is waited for by %s, and no failure", async (workflow) => {
    const act = create((index) => (index < 2 ? { status: 409 } : {}));
    const { status, runId } = await stage.run(workflow, { tag: act.tag, class: "idempotent_write" });
    expect(status).toBe("completed");
    const [first, second, third] = act.arrivals();
    expect([act.arrivals().length, keys(act.arrivals())]).toEqual([3, 1]);
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(990);
    expect(third!.at - second!.at).toBeGreaterThanOrEqual(1_980);
    expect(await started(runId)).toBe(1);
    expect(await stage.letters(runId)).toEqual([]);
  });

  test("of an optional node is buried alone, and its neighbour's effect goes on", async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => { answer = resolve; });
    const [lost, other] = [create(() => ({ then: "reset" })), create(() => ({ until: answered }))];
    const runId = await stage.submit("proof-beside", { lost: lost.tag, other: other.tag });
    await until("the one to be given up", async () => (await stage.letters(runId)).length > 0);
    await other.onTheWire();
    expect(await stage.effects(runId)).toMatchObject([{ key: "lost", state: "unknown" }, { key: "other", state: "launched" }]);
    answer();
    expect((await stage.ended(runId)).status).toBe("completed");
    expect(await stage.letters(runId)).toMatchObject([{ ...unknown, scope: "node", nodeId: "lost" }]);
    expect(await stage.effects(runId)).toMatchObject([{ key: "lost", state: "unknown" }, { key: "other", state: "confirmed" }]);
  });
});

describe.concurrent("an effect's answer", () => {
  test("is recorded and given back as Postgres can hold it", async () => {
    const act = create();
    const { status, outputs, runId } = await stage.run("proof-answers", { tag: act.tag, what: "zero" });
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { text: "a\uFFFDb", "na\uFFFDme": 1 } });
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", answer: { text: "a\uFFFDb" } }]);
  });

  test.each([["cyclic", "platform.contract_mismatch"], ["long", "platform.data_limit_exceeded"]])("that cannot be recorded, being %s, fails the run clearly: the effect is confirmed, not unknown", async (what, expected) => {
    const act = create();
    const { status, code, runId } = await stage.run("proof-answers", { tag: act.tag, what });
    expect({ status, code }).toEqual({ status: "failed", code: expected });
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 1 }]);
    expect(act.arrivals()).toHaveLength(1);
  });
});

test("and through all of it logs, executions and the outside ledger stand", async () => { await checkStanding(stage); });
