import { CreateRunResponse, ListRunsResponse, projectId, RunSnapshot, type RunEvent } from "@mainstay/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectRefusal } from "./http.js";
import { startApi, type TestApi } from "./start-api.js";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startApi({ MAINSTAY_INPUT_MAX_BYTES: "1024", MAINSTAY_BODY_MAX_BYTES: "4096" });
  key = await api.makeKey("acme");
});
afterAll(() => api.stop());

const create = (body: unknown, headers: Record<string, string> = {}) => ask(`${api.url}/runs`, { key, body, headers });
const noop = { workflowId: "conformance-noop" };
const freshKey = () => crypto.randomUUID();

describe("POST /runs", () => {
  it("answers 201 with a bound id and projected links, and the run is readable at once by either spelling", async () => {
    const answer = await create({ ...noop, tags: ["a"], metadata: { team: "x" } });
    expect(answer.status).toBe(201);
    const created = CreateRunResponse.parse(answer.body);
    expect(created.runId).toMatch(/^acme\/[0-9a-f-]{36}$/);
    expect(created.eventsUrl).toBe(`/runs/${projectId(created.runId)}/events`);
    const plain = await ask(`${api.url}/runs/${encodeURIComponent(created.runId)}`, { key });
    const projected = await ask(`${api.url}${created.statusUrl ?? ""}`, { key });
    expect(plain.status).toBe(200);
    expect(plain.body).toEqual(projected.body);
    expect((await ask(`${api.url}/runs/${encodeURIComponent(created.runId)}/events/poll?timeout=1`, { key })).status).toBe(200);
    expect(RunSnapshot.parse(plain.body)).toMatchObject({
      runId: created.runId, workflowId: "conformance-noop", status: "pending", eventLogSchemaVersion: 3, engineVersion: 1,
      tags: ["a"], metadata: { team: "x" },
      owner: { tenant: "acme", subject: { issuer: "urn:mainstay:api-key", tenant: "acme", lane: "api-key", kind: "workload" } },
    });
    expect(api.hints).toContain("work");
  });

  it.each([
    [{}, "workflowId"], [{ ...noop, extra: 1 }, "extra"], [{ ...noop, configurable: {} }, "configurable.version"],
    [{ ...noop, configurable: { version: 1, run: { runTimeoutMs: 0 } } }, "configurable.run.runTimeoutMs"],
    [{ ...noop, configurable: { version: 1, "a.b": 1 } }, "configurable.a.b"],
    [{ ...noop, tags: Array.from({ length: 101 }, () => "t") }, "tags"], [{ ...noop, tags: ["t".repeat(257)] }, "tags.0"],
    [{ ...noop, callbackUrl: "https://x" }, "callbackUrl"], [{ workflowId: "order", inputs: { cents: 1 } }, "inputs.order"],
    [{ workflowId: "order" }, "inputs.order"], [{ workflowId: "order", inputs: { order: "o", cents: 1.5 } }, "inputs.cents"],
  ])("refuses %j naming the member", async (body, field) => {
    expect(expectRefusal(await create(body), 400, "validation_error")["field"]).toBe(field);
  });

  it.each([
    ['{"workflowId":"order","inputs":{"order":"\\u0000"}}', "inputs.order"],
    ['{"workflowId":"order","inputs":{"order":"\\ud800"}}', "inputs.order"],
    ['{"workflowId":"order","inputs":{"cents":9007199254740993}}', "inputs.cents"],
    ['{"workflowId":"order","inputs":{"order":"a","order":"b"}}', "inputs.order"],
    ['{"workflowId":"order","inputs":{"__proto__":1}}', "inputs.__proto__"],
    [`{"workflowId":"order","inputs":${"[".repeat(70)}${"]".repeat(70)}}`, `inputs${"[0]".repeat(63)}`],
    ['{"workflowId":', "workflowId"],
  ])("refuses the payload %s at its path", async (body, field) => {
    expect(expectRefusal(await create(body), 400, "validation_error")["field"]).toBe(field);
  });

  it("refuses malformed JSON, a foreign media type, and bytes that are no UTF-8", async () => {
    expectRefusal(await create("{"), 400, "validation_error");
    expectRefusal(await create(""), 400, "validation_error");
    expectRefusal(await create("a=1", { "content-type": "application/x-www-form-urlencoded" }), 415, "unsupported_media_type");
    expectRefusal(await create(noop, { "content-encoding": "gzip" }), 415, "unsupported_media_type");
    expectRefusal(await create(noop, { "content-type": "application/json; charset=utf-16" }), 415, "unsupported_media_type");
    const response = await fetch(`${api.url}/runs`, {
      method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: Buffer.from([0x22, 0xff, 0x22]),
    });
    expect(response.status).toBe(400);
  });

  it("names the limit that a body or an input passes", async () => {
    const input = { workflowId: "conformance-noop", inputs: { a: "x".repeat(2_000) } };
    expect(expectRefusal(await create(input), 413, "payload_too_large")["limit"]).toBe("MAINSTAY_INPUT_MAX_BYTES");
    const body = { ...noop, metadata: { a: "x".repeat(5_000) } };
    expect(expectRefusal(await create(body), 413, "payload_too_large")["limit"]).toBe("MAINSTAY_BODY_MAX_BYTES");
  });

  it("refuses an unknown workflow, another tenant, and what this host does not provide", async () => {
    expectRefusal(await create({ workflowId: "nope" }), 404, "not_found");
    expectRefusal(await create({ ...noop, tenantId: "beta" }), 403, "id_tenant_mismatch");
    expectRefusal(await create({ ...noop, residency: "eu" }), 422, "capability_not_provided");
    expectRefusal(await create(noop, { "openwop-force-engine-version": "1" }), 403, "force_engine_version_forbidden");
  });
});

describe("an idempotency key", () => {
  it("gives the same answer for the same body, byte for byte and marked", async () => {
    const headers = { "idempotency-key": freshKey() };
    const first = await create({ workflowId: "order", inputs: { order: "o", cents: 1 } }, headers);
    const again = await create({ inputs: { cents: 1, order: "o" }, workflowId: "order" }, headers);
    expect(first.headers.get("openwop-idempotent-replay")).toBeNull();
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get("openwop-idempotent-replay")).toBe("true");
  });

  it("is refused with another body, and no run is born", async () => {
    const headers = { "idempotency-key": freshKey() };
    await create({ workflowId: "order", inputs: { order: "first" } }, headers);
    const before = await ask(`${api.url}/runs?limit=100`, { key });
    expectRefusal(await create({ workflowId: "order", inputs: { order: "second" } }, headers), 409, "idempotency_key_mismatch");
    expect((await ask(`${api.url}/runs?limit=100`, { key })).body).toEqual(before.body);
  });

  it("makes one run of twenty parallel requests", async () => {
    const headers = { "idempotency-key": freshKey() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(noop, headers)));
    expect(new Set(answers.map(({ status, text }) => `${String(status)} ${text}`)).size).toBe(1);
    expect(answers.filter(({ headers: seen }) => seen.get("openwop-idempotent-replay") === null)).toHaveLength(1);
  });

  it("keeps a definite refusal, marked when it is given again, and is refused with another body", async () => {
    const headers = { "idempotency-key": freshKey() };
    const first = await create({ workflowId: "nope" }, headers);
    expectRefusal(first, 404, "not_found");
    expect(first.headers.get("openwop-idempotent-replay")).toBeNull();
    const again = await create({ workflowId: "nope" }, headers);
    expect([again.status, again.text, again.headers.get("openwop-idempotent-replay")]).toEqual([404, first.text, "true"]);
    expectRefusal(await create({ workflowId: "nope", inputs: { other: 1 } }, headers), 409, "idempotency_key_mismatch");
    expectRefusal(await create(noop, headers), 409, "idempotency_key_mismatch");
  });

  it("outside the grammar is invalid, and a refused body leaves it free", async () => {
    expectRefusal(await create(noop, { "idempotency-key": "short" }), 400, "idempotency_key_invalid");
    const headers = { "idempotency-key": freshKey() };
    expectRefusal(await create({ workflowId: "order" }, headers), 400, "validation_error");
    expect((await create({ workflowId: "order", inputs: { order: "o" } }, headers)).status).toBe(201);
  });
});

describe("OpenWOP-Dedup: enforce", () => {
  it("refuses a second live run of one scope, and takes one after the first has ended", async () => {
    const body = { ...noop, scopeId: "s-1" };
    const headers = { "openwop-dedup": "enforce" };
    const first = await create(body, headers);
    const second = await create(body, headers);
    expectRefusal(second, 409, "run_already_active");
    expect(second.headers.get("retry-after")).toMatch(/^\d+$/);
    await api.complete(await api.claim(String(first.body["runId"])));
    expect((await create(body, headers)).status).toBe(201);
    expectRefusal(await create(noop, headers), 400, "validation_error");
  });
});

describe("GET /runs/{runId}", () => {
  it("changes its tag with each move and answers 304 while nothing moved", async () => {
    const { runId } = CreateRunResponse.parse((await create(noop)).body);
    const url = `${api.url}/runs/${projectId(runId)}`;
    const first = await ask(url, { key });
    const tag = first.headers.get("etag") ?? "";
    const same = await ask(url, { key, headers: { "if-none-match": tag } });
    expect([same.status, same.text, same.headers.get("openwop-version")]).toEqual([304, "", "2.0"]);
    await api.complete(await api.claim(runId), { answer: 42 });
    const moved = await ask(url, { key, headers: { "if-none-match": tag } });
    expect(moved.status).toBe(200);
    expect(RunSnapshot.parse(moved.body).status).toBe("completed");
    const events = (await ask(`${url}/events/poll`, { key })).body["events"] as RunEvent[];
    expect(events.find((event) => event.type === "run.started")?.payload).toMatchObject({ owner: moved.body["owner"] });
  });

  it("refuses a bare id, a broken projection, a foreign tenant, and does not find an unknown id", async () => {
    const at = (id: string) => ask(`${api.url}/runs/${id}`, { key });
    expectRefusal(await at("does-not-exist"), 400, "validation_error");
    expectRefusal(await at("acme~2"), 400, "validation_error");
    expectRefusal(await at("beta~2F0190a1b2-0000-7000-8000-000000000000"), 403, "id_tenant_mismatch");
    expectRefusal(await at("acme~2F0190a1b2-0000-7000-8000-000000000000"), 404, "not_found");
    expectRefusal(await at("acme%2Fnot-a-uuid-but-long-enough"), 404, "not_found");
  });
});

describe("GET /runs", () => {
  it("pages newest first, by workspace, filter and signed cursor", async () => {
    const other = await startedIn("beta", 5);
    const all: string[] = [];
    let cursor: string | undefined;
    do {
      const query = new URLSearchParams({ limit: "2", ...(cursor === undefined ? {} : { cursor }) });
      const page = ListRunsResponse.parse((await ask(`${api.url}/runs?${query.toString()}`, { key: other.key })).body);
      expect(page.runs.length).toBeLessThanOrEqual(2);
      all.push(...page.runs.map((run) => run.runId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(all).toEqual([...other.runIds].reverse());
    const first = await ask(`${api.url}/runs?limit=2`, { key: other.key });
    const foreign = encodeURIComponent(String(first.body["nextCursor"]));
    expectRefusal(await ask(`${api.url}/runs?cursor=${foreign}`, { key }), 400, "validation_error");
    expectRefusal(await ask(`${api.url}/runs?cursor=${foreign}&status=failed`, { key: other.key }), 400, "validation_error");
    expect((await ask(`${api.url}/runs?limit=100000`, { key: other.key })).status).toBe(200);
    expect((await ask(`${api.url}/runs?status=completed`, { key: other.key })).body["runs"]).toEqual([]);
    expectRefusal(await ask(`${api.url}/runs?status=nope`, { key }), 400, "validation_error");
  });

  async function startedIn(workspace: string, count: number) {
    const own = await api.makeKey(workspace);
    const runIds: string[] = [];
    for (let at = 0; at < count; at += 1) runIds.push(String((await ask(`${api.url}/runs`, { key: own, body: noop })).body["runId"]));
    return { key: own, runIds };
  }
});

describe("POST /runs/{runId}/cancel", () => {
  const cancel = (runId: string, headers: Record<string, string> = {}, body: unknown = {}) =>
    ask(`${api.url}/runs/${projectId(runId)}/cancel`, { key, body, headers });

  it("ends a run that nobody holds at once; a second cancel is refused, its replay is not", async () => {
    const { runId } = CreateRunResponse.parse((await create(noop)).body);
    const headers = { "idempotency-key": freshKey() };
    const first = await cancel(runId, headers, { reason: "no longer wanted" });
    expect(first.body).toEqual({ runId, status: "cancelled" });
    const replay = await cancel(runId, headers, { reason: "no longer wanted" });
    expect([replay.text, replay.headers.get("openwop-idempotent-replay")]).toEqual([first.text, "true"]);
    expectRefusal(await cancel(runId, headers, { reason: "other" }), 409, "idempotency_key_mismatch");
    expectRefusal(await cancel(runId), 409, "run_terminal");
    expectRefusal(await cancel(runId, {}, { why: "x" }), 400, "validation_error");
  });

  it("answers one truth to parallel cancels under one key", async () => {
    const { runId } = CreateRunResponse.parse((await create(noop)).body);
    const headers = { "idempotency-key": freshKey() };
    const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(runId, headers)));
    expect(new Set(answers.map(({ status, text }) => `${String(status)} ${text}`))).toEqual(new Set([`200 ${JSON.stringify({ runId, status: "cancelled" })}`]));
  });

  it("shows a held run as cancelling before its holder has seen the stop, and takes no body at all", async () => {
    const { runId } = CreateRunResponse.parse((await create(noop)).body);
    await api.claim(runId);
    const answer = await ask(`${api.url}/runs/${projectId(runId)}/cancel`, { key, method: "POST" });
    expect(answer.body).toEqual({ runId, status: "cancelling" });
    expect((await ask(`${api.url}/runs/${projectId(runId)}`, { key })).body["status"]).toBe("cancelling");
    expect(((await ask(`${api.url}/runs?status=cancelling`, { key })).body["runs"] as unknown[]).length).toBe(1);
    expect(api.hints).toContain("stop");
  });
});

describe("backpressure", () => {
  it("answers 503 with Retry-After above the cap and leaves nothing half accepted", async () => {
    const small = await startApi({ MAINSTAY_ACCEPT_CAP: "3" });
    try {
      const own = await small.makeKey("acme");
      const answers = [];
      const headers = { "idempotency-key": freshKey() };
      for (let at = 0; at < 6; at += 1) answers.push(await ask(`${small.url}/runs`, { key: own, body: noop, ...(at === 0 ? { headers } : {}) }));
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 503, 503, 503]);
      // a repeat asks for nothing new
      const again = await ask(`${small.url}/runs`, { key: own, body: noop, headers });
      expect([again.status, again.text, again.headers.get("openwop-idempotent-replay")]).toEqual([201, answers[0]?.text, "true"]);
      expectRefusal(await ask(`${small.url}/runs`, { key: own, body: { ...noop, tags: ["other"] }, headers }), 409, "idempotency_key_mismatch");
      const refused = answers.at(-1);
      if (refused === undefined) throw new Error("no answer");
      expectRefusal(refused, 503, "service_unavailable");
      expect(refused.body["details"]).toBeUndefined();
      expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
      expect((await ask(`${small.url}/runs`, { key: own })).body["runs"]).toHaveLength(3);
    } finally {
      await small.stop();
    }
  });
});
