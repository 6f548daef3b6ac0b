import { CreateRunResponse, Discovery, isTerminalEvent, parseRunEvent, projectId, RunSnapshot, type PollEventsResponse, type RunEvent } from "@mainstay/contract";
import { createClient } from "@mainstay/sdk";
import { startTestFleet, until, type TestFleet } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectRefusal } from "./http.js";

/** The fleet's own default times: nobody is taken over here, and a loaded machine may be slow. */
const calm = {
  MAINSTAY_HEARTBEAT_MS: "1000", MAINSTAY_LEASE_MS: "3000", MAINSTAY_STATEMENT_TIMEOUT_MS: "2000", MAINSTAY_IDLE_TX_TIMEOUT_MS: "1000",
  MAINSTAY_WEDGED_AFTER_MS: "10000",
};

let fleet: TestFleet;
let urls: readonly string[];
beforeAll(async () => {
  fleet = await startTestFleet({ api: 2, relay: 1, workers: 2, supervisors: 0, name: "api-fleet", env: calm });
  urls = fleet.fleet.of("api").map(({ url }) => url);
}, 60_000);
afterAll(() => fleet.stop());

const at = (index: number) => urls[index % urls.length] ?? "";
const client = (index = 0) => createClient({ url: at(index), key: fleet.key });
const poll = async (runId: string) => (await ask(`${at(1)}/runs/${projectId(runId)}/events/poll`, { key: fleet.key })).body as PollEventsResponse;

/** The rules of every log: contract, one run, dense sequences, one terminal event and nothing after it. */
function expectLawful(runId: string, events: readonly RunEvent[]): void {
  expect(events.map((event) => event.sequence)).toEqual(events.map((_event, index) => index));
  for (const event of events) {
    expect(parseRunEvent(event)).toEqual({ event });
    expect(event.runId).toBe(runId);
  }
  expect(events.filter((event) => isTerminalEvent(event.type))).toHaveLength(1);
  expect(isTerminalEvent(events.at(-1)?.type ?? "")).toBe(true);
}

describe("a fleet with two apis", () => {
  it("runs every fixture that it advertises", async () => {
    const { fixtures = [] } = Discovery.parse((await ask(`${at(0)}/.well-known/openwop`)).body);
    expect(fixtures).toHaveLength(7);
    const inputs: Record<string, unknown> = {
      "conformance-idempotent": { nonce: "n-1" }, "conformance-delay": { delayMs: 50 }, "conformance-cancellable": { delayMs: 50 },
      "conformance-identity": { payload: { a: 1 } },
    };
    for (const workflowId of fixtures) {
      const { runId } = await client().runs.create(workflowId, inputs[workflowId]);
      const result = await client(1).runs.result(runId, { timeoutMs: 20_000 });
      expect([workflowId, result.status]).toEqual([workflowId, workflowId === "conformance-failure" ? "failed" : "completed"]);
      const { events, status, isTerminal } = await poll(runId);
      expectLawful(runId, events);
      const snapshot = RunSnapshot.parse(await client().runs.get(runId));
      expect([snapshot.status, isTerminal]).toEqual([status, true]);
      expect(events.find((event) => event.type === "run.started")?.payload).toMatchObject({ owner: snapshot.owner });
      if (workflowId === "conformance-failure") {
        expect(events.slice(-3).map((event) => event.type)).toEqual(["node.failed", "run.dead-lettered", "run.failed"]);
        expect(events.find((event) => event.type === "run.dead-lettered")?.payload).toMatchObject({ runId, nodeId: "fail", attempts: 1 });
        expect(snapshot.error?.code).toMatch(/^(mainstay\.)?[a-z_]+$/);
      }
    }
  });

  it("refuses an input outside a fixture's schema", async () => {
    for (const [workflowId, inputs, field] of [["conformance-idempotent", {}, "inputs.nonce"], ["conformance-delay", { delayMs: -1 }, "inputs.delayMs"]] as const) {
      const answer = await ask(`${at(0)}/runs`, { key: fleet.key, body: { workflowId, inputs } });
      expect(expectRefusal(answer, 400, "validation_error")["field"]).toBe(field);
    }
  });

  it("makes one run of parallel requests under one key, whichever api they reach", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const body = { workflowId: "conformance-noop" };
    const answers = await Promise.all(Array.from({ length: 12 }, (_one, index) => ask(`${at(index)}/runs`, { key: fleet.key, body, headers })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get("openwop-idempotent-replay") === null)).toHaveLength(1);
    const { runId } = CreateRunResponse.parse(answers[0]?.body);
    expect((await client(1).runs.result(runId)).status).toBe("completed");
  });

  it("ends fifty parallel runs, each with a lawful log", async () => {
    const created = await Promise.all(Array.from({ length: 50 }, (_one, index) => client(index).runs.create("conformance-multi-node")));
    expect(new Set(created.map(({ runId }) => runId)).size).toBe(50);
    for (const { runId } of created) {
      expect((await client(1).runs.result(runId, { timeoutMs: 30_000 })).status).toBe("completed");
      expectLawful(runId, (await poll(runId)).events);
    }
  });

  it("cancels a running run within five seconds, asked through the other api", async () => {
    const { runId } = await client(0).runs.create("conformance-cancellable");
    await until("the run to be held", async () => (await client(0).runs.get(runId)).status === "running");
    const before = performance.now();
    expect((await client(1).runs.cancel(runId, { reason: "enough" })).status).toMatch(/^cancell(ing|ed)$/);
    expect((await client(0).runs.result(runId, { timeoutMs: 10_000 })).status).toBe("cancelled");
    expect(performance.now() - before).toBeLessThan(5_000);
    const { events } = await poll(runId);
    expectLawful(runId, events);
    expect(events.at(-1)?.payload).toMatchObject({ reason: "enough" });
    expectRefusal(await ask(`${at(0)}/runs/${projectId(runId)}/cancel`, { key: fleet.key, body: {} }), 409, "run_terminal");
  });

  it("lets cancels race completions: one terminal event each, and the snapshot agrees with it", async () => {
    const created = await Promise.all(Array.from({ length: 40 }, (_one, index) => client(index).runs.create("conformance-multi-node")));
    const outcomes = await Promise.all(created.map(({ runId }, index) => client(index + 1).runs.cancel(runId).then(() => "asked", () => "refused")));
    for (const [index, { runId }] of created.entries()) {
      const { status } = await client(1).runs.result(runId, { timeoutMs: 30_000 });
      expectLawful(runId, (await poll(runId)).events);
      expect((await client().runs.get(runId)).status).toBe(status);
      if (outcomes[index] === "refused") expect(status).toBe("completed");
    }
  });

  it("streams to a reader of one api what the workers write, in order and to the end", async () => {
    const { runId } = await client(0).runs.create("conformance-delay", { delayMs: 300 });
    const [debug, updates] = await Promise.all((["debug", "updates"] as const).map(async (streamMode) => {
      const seen: RunEvent[] = [];
      for await (const event of client(1).runs.events(runId, { streamMode })) seen.push(event);
      return seen;
    }));
    const { events } = await poll(runId);
    expect(debug).toEqual(events);
    expect(updates?.length).toBeLessThan(events.length);
    expect(events).toEqual(expect.arrayContaining(updates ?? []));
  });

  it("keeps a stream going when its api dies: the reader resumes at a living one without a gap", async () => {
    const [first] = fleet.fleet.of("api");
    if (first === undefined) throw new Error("no api lives");
    const { runId } = await client(1).runs.create("conformance-delay", { delayMs: 1_500 });
    const seen: number[] = [];
    // An entry point that reaches whichever api lives, as a load balancer does.
    const entry = createClient({
      url: first.url, key: fleet.key,
      fetch: (input, init) => fetch((input as string | URL).toString().replace(first.url, fleet.apiUrl()), init),
    });
    const following = (async () => {
      for await (const event of entry.runs.events(runId, { streamMode: "debug" })) seen.push(event.sequence);
    })();
    await until("the first events", () => seen.length > 0);
    await first.kill("SIGKILL");
    await following;
    expect(seen).toEqual(seen.map((_one, index) => index));
    expect((await createClient({ url: fleet.apiUrl(), key: fleet.key }).runs.get(runId)).status).toBe("completed");
  });
});
