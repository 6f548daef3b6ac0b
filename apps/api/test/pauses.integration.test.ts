import { PauseRunResponse, ResumeRunResponse, parseRunEvent, projectId } from "@mainstay/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectRefusal, type Answer } from "./http.js";
import { startApi, type TestApi } from "./start-api.js";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.makeKey("acme");
});
afterAll(() => api.stop());

const freshKey = (): string => crypto.randomUUID();
const create = async (): Promise<string> => String((await ask(`${api.url}/runs`, { key, body: { workflowId: "conformance-noop" } })).body["runId"]);
const act = (runId: string, verb: "pause" | "resume", more: { headers?: Record<string, string>; body?: unknown; key?: string } = {}): Promise<Answer> =>
  ask(`${api.url}/runs/${projectId(runId)}:${verb}`, { key, method: "POST", ...more });
const statusOf = async (runId: string) => (await ask(`${api.url}/runs/${projectId(runId)}`, { key })).body["status"];
async function logOf(runId: string): Promise<{ type: string; payload: unknown }[]> {
  const { body } = await ask(`${api.url}/runs/${projectId(runId)}/events/poll?timeout=1`, { key });
  const events = body["events"] as { type: string; payload: unknown }[];
  for (const event of events) expect(parseRunEvent(event)).toHaveProperty("event");
  return events;
}

describe("POST /runs/{runId}:pause and :resume", () => {
  it("pause a run that nobody holds at once, keep it from being claimed, and let it go on", async () => {
    const runId = await create();
    const paused = await act(runId, "pause", { body: { reason: "month end" } });
    expect(paused.status).toBe(202);
    expect(PauseRunResponse.parse(paused.body)).toMatchObject({ runId, status: "paused", pausedAt: expect.any(String) as string });
    expect(await statusOf(runId)).toBe("paused");
    await expect(api.claim(runId)).rejects.toThrow("stopping");
    const resumed = await act(runId, "resume");
    expect(resumed.status).toBe(202);
    expect(ResumeRunResponse.parse(resumed.body)).toMatchObject({ runId, status: "running" });
    expect(await statusOf(runId)).toBe("pending");
    await api.complete(await api.claim(runId));
    const log = await logOf(runId);
    expect(log.map(({ type }) => type)).toEqual(["run.paused", "run.resumed", "lease.acquired", "run.started", "node.started", "node.completed", "run.completed"]);
    expect(log[0]?.payload).toEqual({ reason: "month end", drainPolicy: "drain-current-node" });
  });

  it("take a run id in either projection, and name the path whole", async () => {
    const runId = await create();
    expect((await ask(`${api.url}/runs/${encodeURIComponent(runId)}:pause`, { key, body: {} })).status).toBe(202);
    expectRefusal(await ask(`${api.url}/runs/${projectId(runId)}:stop`, { key, body: {} }), 404, "not_found");
    expectRefusal(await ask(`${api.url}/runs/does-not-exist:pause`, { key, body: {} }), 400, "validation_error");
    expectRefusal(await act("acme/0190a1b2-0000-7000-8000-000000000000", "pause"), 404, "not_found");
    expectRefusal(await act("beta/0190a1b2-0000-7000-8000-000000000000", "resume"), 403, "id_tenant_mismatch");
  });

  it("show a held run as paused at once, without a time, and take the pause back without a word in the log", async () => {
    const runId = await create();
    const held = await api.claim(runId);
    const before = (await logOf(runId)).length;
    expect((await act(runId, "pause", { body: { drainPolicy: "immediate" } })).body).toEqual({ runId, status: "paused" });
    expect(await statusOf(runId)).toBe("paused");
    expect(api.hints.at(-1)).toBe("stop");
    expect((await act(runId, "resume")).body).toMatchObject({ runId, status: "running" });
    expect(await statusOf(runId)).toBe("running");
    expect((await logOf(runId)).length).toBe(before);
    await api.complete(held);
  });

  it("refuse the wrong state with its name: 409 run_state_conflict, and run_terminal after the end", async () => {
    const runId = await create();
    expect(expectRefusal(await act(runId, "resume"), 409, "run_state_conflict")).toEqual({ runStatus: "pending" });
    await act(runId, "pause");
    expect(expectRefusal(await act(runId, "pause"), 409, "run_state_conflict")).toEqual({ runStatus: "paused" });
    expect((await ask(`${api.url}/runs/${projectId(runId)}/cancel`, { key, body: {} })).body).toEqual({ runId, status: "cancelled" });
    expectRefusal(await act(runId, "pause"), 409, "run_terminal");
    expectRefusal(await act(runId, "resume"), 409, "run_terminal");
    const held = await create();
    await api.claim(held);
    await ask(`${api.url}/runs/${projectId(held)}/cancel`, { key, body: {} });
    expect(expectRefusal(await act(held, "pause"), 409, "run_state_conflict")).toEqual({ runStatus: "cancelling" });
    expect(expectRefusal(await act(held, "resume"), 409, "run_state_conflict")).toEqual({ runStatus: "cancelling" });
  });

  it("name the field of a bad body, and refuse a key without runs:cancel", async () => {
    const runId = await create();
    expect(expectRefusal(await act(runId, "pause", { body: { drainPolicy: "later" } }), 400, "validation_error")).toEqual({ field: "drainPolicy" });
    expect(expectRefusal(await act(runId, "pause", { body: { why: "x" } }), 400, "validation_error")).toEqual({ field: "why" });
    expect(expectRefusal(await act(runId, "resume", { body: { reason: "x" } }), 400, "validation_error")).toEqual({ field: "reason" });
    expectRefusal(await act(runId, "pause", { key: await api.makeKey("acme", ["runs:create", "runs:read"]) }), 403, "forbidden");
  });

  it("answer one truth to parallel requests under one key, and again after the state has moved on", async () => {
    const runId = await create();
    const headers = { "idempotency-key": freshKey() };
    const answers = await Promise.all(Array.from({ length: 8 }, () => act(runId, "pause", { headers, body: { reason: "once" } })));
    expect(new Set(answers.map(({ status, text }) => `${String(status)} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(202);
    expectRefusal(await act(runId, "pause", { headers, body: { reason: "other" } }), 409, "idempotency_key_mismatch");
    const again = { "idempotency-key": freshKey() };
    const first = await act(runId, "resume", { headers: again });
    expect(await statusOf(runId)).toBe("pending");
    const replay = await act(runId, "resume", { headers: again });
    expect([replay.status, replay.text, replay.headers.get("openwop-idempotent-replay")]).toEqual([202, first.text, "true"]);
    expect((await act(runId, "pause", { headers, body: { reason: "once" } })).text).toBe(answers[0]?.text);
    expect(await statusOf(runId)).toBe("pending"); // the repeat paused nothing
    expect((await logOf(runId)).map(({ type }) => type)).toEqual(["run.paused", "run.resumed"]);
  });
});
