import { until } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

let stage: Stage;
beforeAll(async () => { stage = await startStage({ workflows: "nodes", name: "worker-nodes" }); });
afterAll(async () => { await stage.stop(); });

const began = (runId: string, nodeId: string) => stage.noted(runId).filter((line) => line.what === "began" && line.nodeId === nodeId);

describe.concurrent("a run of code nodes", () => {
  test("is given its typed input, maps inputs of finished nodes and ends with its last node's output", async () => {
    const { status, outputs, runId } = await stage.run("proof-typed", { order: "o-7", cents: 450 });
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { paid: 900, order: "o-7" } });
    const price = (await stage.log(runId)).find(({ type, nodeId }) => type === "node.completed" && nodeId === "price");
    expect(price?.payload["outputs"]).toEqual({ total: 900, given: { url: stage.receiver.url, order: "o-7", cents: 450 } });
  });

  test("is refused as poisoned before any of its code runs when its schema refuses the input at the worker", async () => {
    const { status, code, types, runId } = await stage.run("proof-typed", { order: "o-8", cents: 13 });
    expect({ status, code }).toEqual({ status: "failed", code: "platform.schema_invalid" });
    expect(stage.noted(runId)).toEqual([]);
    expect(types.slice(-2)).toEqual(["run.dead-lettered", "run.failed"]);
    expect(await stage.letters(runId)).toMatchObject([{ scope: "run", class: "POISONED_INPUT", disposition: "handler_error", state: "INPUT_REPAIR_REQUIRED", attempts: 1 }]);
  });

  test("fails once when the schema itself throws", async () => {
    const { status, code, runId } = await stage.run("proof-broken-schema");
    expect({ status, code }).toEqual({ status: "failed", code: "platform.unclassified" });
    expect(stage.noted(runId)).toEqual([]);
    expect((await stage.log(runId)).filter(({ type }) => type === "lease.acquired")).toHaveLength(1);
  });

  test("fans out, fans in and answers every last node's output", async () => {
    const { status, outputs, runId, types } = await stage.run("proof-fan");
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { copy: { sum: 186 }, tail: 10 } });
    expect(types.filter((type) => type === "node.completed")).toHaveLength(16);
    expect(stage.noted(runId).filter(({ what }) => what === "began")).toHaveLength(15);
    const log = await stage.log(runId);
    const at = (type: string, nodeId: string) => log.find((event) => event.type === type && event.nodeId === nodeId)!.seq;
    for (let leg = 0; leg < 12; leg++) expect(at("node.started", "join")).toBeGreaterThan(at("node.completed", `leg${leg}`));
  });

  test("goes on without an optional node, which has a dead letter of its own and whose dependents are skipped", async () => {
    const { status, outputs, types, runId } = await stage.run("proof-optional");
    expect({ status, outputs }).toEqual({ status: "completed", outputs: {} }); // its only last node was skipped
    expect(types.filter((type) => type === "node.skipped")).toHaveLength(2);
    expect(types).not.toContain("run.dead-lettered");
    expect(await stage.letters(runId)).toEqual([{ scope: "node", nodeId: "luck", class: "NON_RETRYABLE", code: "app.no_luck", disposition: "handler_error", state: "OPERATOR_DECISION_REQUIRED", attempts: 1 }]);
    expect(began(runId, "cheer")).toEqual([]);
    expect(await stage.sql("select type from ops_events where subject = $1", [bare(runId)])).toEqual([{ type: "dead_letter.opened" }]);
  });

  test("executes a node that outlasts every default once when it names no time-out", async () => {
    const { status, runId } = await stage.run("proof-long");
    expect(status).toBe("completed");
    expect(began(runId, "long")).toHaveLength(1);
  });
});

test("a node's log lines never fail it, whatever they are given", async () => {
  expect(await stage.run("proof-talks")).toMatchObject({ status: "completed", outputs: { said: true } });
});

describe.concurrent("a node that fails", () => {
  const fail = (how: string) => stage.run("proof-fails", { how });

  test("with its workflow's own final code ends the run at once under that code", async () => {
    const { status, code, types, runId } = await fail("app_final");
    expect({ status, code }).toEqual({ status: "failed", code: "app.declined" });
    expect(types.slice(-3)).toEqual(["node.failed", "run.dead-lettered", "run.failed"]);
    const last = (await stage.log(runId)).at(-1)!;
    expect(last.payload).toMatchObject({ failedNodeId: "fail", error: { code: "mainstay.app_declined", message: "The card was declined", details: { class: "NON_RETRYABLE", code: "app.declined", disposition: "handler_error" } } });
  });

  test("with its workflow's own passing code is tried again until it succeeds, or its retries are exhausted", async () => {
    const [passed, exhausted] = await Promise.all([fail("app_passing"), fail("app_exhausted")]);
    expect(passed).toMatchObject({ status: "completed", outputs: { attempt: 2 } });
    expect(exhausted).toMatchObject({ status: "failed", code: "app.busy" });
    expect(await stage.letters(exhausted.runId)).toEqual([{ scope: "run", nodeId: "fail", class: "TRANSIENT", code: "app.busy", disposition: "retry_exhausted", state: "RETRY_ELIGIBLE", attempts: 3 }]);
    const [letter] = await stage.sql<{ history: unknown[]; reason: string }>("select retry_history as history, reason from dead_letters where run_id = $1", [bare(exhausted.runId)]);
    expect(letter!.history).toHaveLength(3);
    expect(letter!.reason).toBe("app.busy: The bank is busy (3 failed attempts)");
  });

  test.each(["app_unknown_code", "plain", "text", "nothing", "hostile"])("with %s is unclassified and not tried again", async (how) => {
    const { status, code, runId } = await fail(how);
    expect({ status, code }).toEqual({ status: "failed", code: "platform.unclassified" });
    expect(began(runId, "fail")).toHaveLength(1);
    expect(await stage.letters(runId)).toMatchObject([{ class: "NON_RETRYABLE", disposition: "handler_error", attempts: 1 }]);
  });

  test("with a machine code is transient and tried again after a doubled back-off", async () => {
    const [reset, overloaded] = await Promise.all([fail("reset"), fail("overloaded")]);
    expect(reset).toMatchObject({ status: "completed", outputs: { attempt: 2 } });
    expect(overloaded).toMatchObject({ status: "completed", outputs: { attempt: 1 } });
    const log = await stage.log(reset.runId);
    const delays = log.filter(({ type }) => type === "node.retried").map(({ payload }) => Number(payload["delayMs"]));
    expect(delays).toHaveLength(2);
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(200 * 2 ** index); // 400, doubled, jitter 0.5 to 1.5
      expect(delay).toBeLessThanOrEqual(600 * 2 ** index);
    }
    const retried = log.findIndex(({ type }) => type === "node.retried");
    const again = log.slice(retried).find(({ type }) => type === "node.started")!;
    expect(again.at.getTime() - log[retried]!.at.getTime()).toBeGreaterThanOrEqual(delays[0]! - 1);
  });

  test.each([["retry_after", 1_500], ["retry_after_header", 2_000]])("is not tried again before the instant the other side asked for: %s", async (how, askedMs) => {
    const { status, runId } = await fail(how);
    expect(status).toBe("completed");
    const [first, second] = began(runId, "fail");
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(askedMs - 1);
  });

  test("with text that Postgres cannot hold in its details ends the run once, and the dead letter keeps what can be kept", async () => {
    const { status, code, runId } = await fail("odd_detail");
    expect({ status, code }).toEqual({ status: "failed", code: "app.declined" });
    expect(began(runId, "fail")).toHaveLength(1);
    const [letter] = await stage.sql<{ failure: Record<string, unknown> }>("select failure from dead_letters where run_id = $1", [bare(runId)]);
    expect(letter!.failure).toMatchObject({ component: "a\uFFFDb", operation: "c\uFFFDd", attributes: { "na\uFFFDme": "va\uFFFDlue", fine: 7 } });
    expect(JSON.stringify(letter!.failure).length).toBeLessThan(5_000);
  });

  test("by its time-out is told so, tried again, and what the first execution does later is not recorded", async () => {
    const { status, outputs, types, runId } = await stage.run("proof-outlasts");
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { attempt: 1 } });
    expect(types.filter((type) => type === "node.completed")).toHaveLength(1);
    await until("the first execution to return", () => stage.noted(runId).some(({ what, attempt }) => what === "left" && attempt === 0));
    expect(stage.noted(runId).map(({ what, attempt }) => `${what} ${attempt}`)).toEqual(["began 0", "aborted 0", "began 1", "left 1", "late 0", "left 0"]);
    expect(stage.noted(runId).find(({ what }) => what === "late")).toMatchObject({ late: "HoldLost" });
    expect(await stage.effects(runId)).toEqual([]);
    const retried = (await stage.log(runId)).find(({ type }) => type === "node.retried")!;
    expect(retried.payload).toMatchObject({ lastError: { details: { class: "TRANSIENT", code: "platform.timeout" } } });
  });
});

describe.concurrent("a node's output", () => {
  const give = (what: string) => stage.run("proof-returns", { what });
  const given = async (runId: string) => (await stage.log(runId)).find(({ type, nodeId }) => type === "node.completed" && nodeId === "give")?.payload["outputs"];

  test.each([
    ["nothing", null, "object"],
    ["function", null, "object"],
    ["numbers", { nan: null, minusZero: 0, big: 1e21, sum: 0.1 + 0.2, safe: 9007199254740991 }, "object"],
    ["odd_text", { text: "a\uFFFDb", literal: "\\u0000", lone: "x\uFFFDy", emoji: "😀", marks: "\u202Eabc", "na\uFFFDme": 1, "lo\uFFFDne": 2, "li\\u0000teral": 3, "\\\uFFFD": 4 }, "object"],
  ])("of %s is recorded as JSON can say it", async (what, expected, seen) => {
    const { status, outputs, runId } = await give(what);
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { seen, polluted: false } });
    expect(await given(runId)).toEqual(expected);
  });

  test("may name __proto__ and changes no prototype", async () => {
    const { status, outputs, runId } = await give("proto");
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { seen: "object", polluted: false } });
    expect(JSON.stringify(await given(runId))).toContain("polluted");
  });

  test("may be as long as the limit and as deep as a thousand levels", async () => {
    for (const { status } of await Promise.all([give("at_limit"), give("deep")])) expect(status).toBe("completed");
  });

  test.each([
    ["too_big", "POISONED_INPUT", "platform.data_limit_exceeded"],
    ["huge", "POISONED_INPUT", "platform.data_limit_exceeded"],
    ["cyclic", "DEFECT", "platform.contract_mismatch"],
    ["bigint", "DEFECT", "platform.contract_mismatch"],
    ["throws", "DEFECT", "platform.contract_mismatch"],
    ["deeper", "DEFECT", "platform.contract_mismatch"],
    ["deepest", "DEFECT", "platform.contract_mismatch"],
  ])("that is %s fails the run once, clearly, and is not tried again", async (what, failureClass, expected) => {
    const { status, code, runId } = await give(what);
    expect({ status, code }).toEqual({ status: "failed", code: expected });
    expect(began(runId, "give")).toHaveLength(1);
    expect(await stage.letters(runId)).toMatchObject([{ scope: "run", nodeId: "give", class: failureClass, disposition: "handler_error", attempts: 1 }]);
    expect((await stage.log(runId)).filter(({ type }) => type === "lease.acquired")).toHaveLength(1);
  });
});

test("a write that the database refuses for good ends its run once, with a failure of its own, and no other run", async () => {
  await stage.sql(`create function refuse_poison() returns trigger language plpgsql as $$ begin
    if new.output ? 'poison' then raise exception 'refused'; end if; return new; end $$`);
  await stage.sql("create trigger refuse_poison before insert or update on run_nodes for each row execute function refuse_poison()");
  const others = Promise.all(Array.from({ length: 5 }, () => stage.run("proof-quick")));
  const { status, code, types, runId } = await stage.run("proof-returns", { what: "poison" });
  expect({ status, code }).toEqual({ status: "failed", code: "platform.contract_mismatch" });
  expect(types.slice(-2)).toEqual(["run.dead-lettered", "run.failed"]);
  expect(began(runId, "give")).toHaveLength(1);
  expect((await stage.log(runId)).filter(({ type }) => type === "lease.acquired")).toHaveLength(1);
  expect(new Set((await others).map((other) => other.status))).toEqual(new Set(["completed"]));
});

test("and through all of it logs, executions and the outside ledger stand", async () => { await checkStanding(stage); });
