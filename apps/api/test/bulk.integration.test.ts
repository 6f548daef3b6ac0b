import { randomUUID } from "node:crypto";
import { BulkCancelResponse, projectId } from "@mainstay/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, expectRefusal } from "./http.js";
import { startApi, type TestApi } from "./start-api.js";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.makeKey("acme");
});
afterAll(() => api.stop());

const freshKey = () => randomUUID();
const create = async (own = key) => String((await ask(`${api.url}/runs`, { key: own, body: { workflowId: "conformance-noop" } })).body["runId"]);
const cancelMany = (body: unknown, headers: Record<string, string> = {}) => ask(`${api.url}/runs:bulk-cancel`, { key, body, headers });

/** Endings that this api has counted. */
async function counted(): Promise<number> {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  return Number(/^mainstay_runs_finished_total\{[^}]*status="cancelled"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

test("many runs are asked to stop in one request, each with its own answer in its place", async () => {
  const [waiting, held, ended, twice] = [await create(), await create(), await create(), await create()];
  await api.claim(held);
  await cancelMany({ runIds: [ended] });
  const foreign = await create(await api.makeKey("other"));
  const unknown = `acme/${randomUUID()}`;
  const before = await counted();
  const answer = await cancelMany({ runIds: [waiting, "no id", held, foreign, ended, unknown, twice, twice], reason: "enough" });
  expect(answer.status).toBe(200);
  const { results } = BulkCancelResponse.parse(answer.body);
  expect(results.map((one) => (one.ok ? [one.runId, one.status] : one.error.error))).toEqual([
    [waiting, "cancelled"], "validation_error", [held, "cancelling"], "id_tenant_mismatch", "run_terminal", "not_found", [twice, "cancelled"], [twice, "cancelled"],
  ]);
  expect(await counted()).toBe(before + 2); // those that ended in this statement, each once
  const seen = await ask(`${api.url}/runs/${projectId(foreign)}`, { key });
  expect(seen.status).toBe(403); // another workspace's run is untouched, and nothing of it is told
});

test("an equal request under one key has the first one's answer, whatever has become of the runs", async () => {
  const runIds = [await create(), `acme/${randomUUID()}`, "no id"];
  const headers = { "idempotency-key": freshKey() };
  const first = await cancelMany({ runIds }, headers);
  const again = await cancelMany({ runIds }, headers);
  expect([again.body, again.headers.get("openwop-idempotent-replay")]).toEqual([first.body, "true"]);
  expectRefusal(await cancelMany({ runIds: [...runIds].reverse() }, headers), 409, "idempotency_key_mismatch");
});

test("parallel requests have one truth under one key, and wait for one another without one", async () => {
  const runIds = await Promise.all(Array.from({ length: 20 }, () => create()));
  const headers = { "idempotency-key": freshKey() };
  const same = await Promise.all(Array.from({ length: 6 }, () => cancelMany({ runIds }, headers)));
  expect(new Set(same.map(({ status, text }) => `${String(status)} ${text}`)).size).toBe(1);
  const more = await Promise.all(Array.from({ length: 40 }, () => create()));
  const crossed = await Promise.all(Array.from({ length: 8 }, (_, index) => cancelMany({ runIds: index % 2 === 0 ? more : [...more].reverse() })));
  expect(crossed.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  const logs = await Promise.all(more.map((runId) => ask(`${api.url}/runs/${projectId(runId)}/events/poll`, { key })));
  expect(logs.map(({ body }) => (body["events"] as { type: string }[]).map(({ type }) => type))).toEqual(more.map(() => ["run.cancelled"]));
});

test("a request without runs, with too many or with what it does not know changes nothing", async () => {
  const runId = await create();
  for (const body of [{}, { runIds: [] }, { runIds: "all" }, { runIds: [runId], filter: {} }, { runIds: [1] }, { runIds: [runId], reason: "x".repeat(1_025) }]) {
    expectRefusal(await cancelMany(body), 400, "validation_error");
  }
  const many = await cancelMany({ runIds: Array.from({ length: 101 }, () => runId) });
  expectRefusal(many, 400, "validation_error");
  expect(many.body["details"]).toMatchObject({ field: "runIds", maxRunIds: 100 });
  expect((await cancelMany({ runIds: Array.from({ length: 100 }, () => `acme/${randomUUID()}`) })).status).toBe(200);
  expect((await ask(`${api.url}/runs/${projectId(runId)}`, { key })).body["status"]).toBe("pending");
  const reader = await api.makeKey("acme", ["runs:read"]);
  expectRefusal(await ask(`${api.url}/runs:bulk-cancel`, { key: reader, body: { runIds: [runId] } }), 403, "forbidden");
});
