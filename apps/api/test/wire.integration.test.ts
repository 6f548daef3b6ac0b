import { EffectSeams } from "@mainstay/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectRefusal } from "./http.js";
import { sendRaw } from "./raw.js";
import { startApi, type TestApi } from "./start-api.js";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.makeKey("acme");
});
afterAll(() => api.stop());

describe("a method", () => {
  it("that a known path does not serve is 405 with Allow, OPTIONS too; an unknown path stays 404", async () => {
    const allowed = async (method: string, path: string) => {
      const answer = await ask(`${api.url}${path}`, { method, key });
      expectRefusal(answer, 405, "mainstay.method_not_allowed");
      return answer.headers.get("allow");
    };
    expect(await allowed("DELETE", "/runs")).toBe("GET, HEAD, POST");
    expect(await allowed("OPTIONS", "/runs?limit=1")).toBe("GET, HEAD, POST");
    expect(await allowed("PUT", "/runs/acme~2F0190a1b2-0000-7000-8000-000000000000")).toBe("GET, HEAD");
    expect(await allowed("GET", "/runs/acme~2F0190a1b2-0000-7000-8000-000000000000/cancel")).toBe("POST");
    expect(await allowed("POST", "/.well-known/openwop")).toBe("GET, HEAD");
    expectRefusal(await ask(`${api.url}/runs/a/b/c`, { method: "PUT", key }), 404, "not_found");
  });

  it("HEAD answers as GET without a body, except where GET waits", async () => {
    const path = `${api.url}/.well-known/openwop`;
    const [got, head] = [await ask(path), await ask(path, { method: "HEAD" })];
    expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", got.headers.get("etag")]);
    const { body } = await ask(`${api.url}/runs`, { key, body: { workflowId: "conformance-noop" } });
    const events = await ask(`${api.url}${String(body["eventsUrl"])}`, { method: "HEAD", key });
    expect([events.status, events.headers.get("allow")]).toEqual([405, "GET"]);
    expect((await ask(`${api.url}/runs`, { method: "HEAD" })).status).toBe(401);
  });
});

describe("a version", () => {
  it("that contradicts the path of major 1 is a mismatch", async () => {
    const at = (version?: string) => ask(`${api.url}/v1/runs`, { key, headers: version === undefined ? {} : { "openwop-version": version } });
    expectRefusal(await at("2.0"), 400, "protocol_version_mismatch");
    expectRefusal(await at("9"), 400, "protocol_version_mismatch");
    expect(expectRefusal(await at("1"), 406, "protocol_version_unsupported")["protocolVersions"]).toEqual(["2.0"]);
    expectRefusal(await at(), 404, "not_found");
  });
});

describe("bytes that never become a request", () => {
  it("are told what is wrong with them: headers too large, no HTTP at all", async () => {
    const large = await sendRaw(api.url, `GET /runs HTTP/1.1\r\nHost: x\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`);
    expect([large.status, large.code]).toEqual([431, "mainstay.headers_too_large"]);
    const none = await sendRaw(api.url, "nonsense\r\n\r\n");
    expect([none.status, none.code]).toEqual([400, "validation_error"]);
    for (const { text } of [large, none]) expect(text).toContain("OpenWOP-Version: 2.0");
  });

  it("are refused when two lengths contradict each other, and an expectation hinders nothing", async () => {
    const head = `POST /runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
    const both = await sendRaw(api.url, `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
    expect([both.status, both.code]).toEqual([400, "validation_error"]);
    const odd = await sendRaw(api.url, `${head}Expect: the-impossible\r\nContent-Length: 2\r\n\r\n{}`);
    expect([odd.status, odd.code]).toEqual([400, "validation_error"]);
  });
});

describe("GET /host/effect-seams", () => {
  it("names every outbound path of node code to a key that may read manifests", async () => {
    const manifest = EffectSeams.parse((await ask(`${api.url}/host/effect-seams`, { key })).body);
    expect(manifest.seams.map(({ seam }) => seam)).toEqual(["http.request", "ctx.effect", "ctx.effect reconcile"]);
    for (const seam of manifest.seams) if (seam.kind === "other") expect(seam.note).toBeTruthy();
    const reader = await api.makeKey("acme", ["runs:read"]);
    expect(expectRefusal(await ask(`${api.url}/host/effect-seams`, { key: reader }), 403, "forbidden")["scope"]).toBe("manifest:read");
  });
});

describe("a limit of a run that is not enforced", () => {
  it.each(["recursionLimit", "maxLoopIterations", "escalationThreshold"])("is refused, not taken in silence: %s", async (limit) => {
    const body = { workflowId: "conformance-noop", configurable: { version: 1, run: { [limit]: 5 } } };
    expect(expectRefusal(await ask(`${api.url}/runs`, { key, body }), 422, "capability_not_provided")["field"]).toBe(`configurable.run.${limit}`);
  });
});

describe("backpressure", () => {
  it("of one workspace refuses that workspace and no other, and counts what waits for a worker alone", async () => {
    const small = await startApi({ MAINSTAY_ACCEPT_CAP_WORKSPACE: "3" });
    try {
      const keys = [await small.makeKey("full"), await small.makeKey("calm")];
      const create = (own: string | undefined) => ask(`${small.url}/runs`, { key: own ?? "", body: { workflowId: "conformance-noop" } });
      for (let at = 0; at < 3; at += 1) expect((await create(keys[0])).status).toBe(201);
      const refused = await create(keys[0]);
      expectRefusal(refused, 503, "service_unavailable");
      expect([refused.body["details"], refused.headers.get("retry-after")]).toEqual([undefined, "2"]);
      expect((await create(keys[1])).status).toBe(201);
      const metrics = await (await fetch(`${small.url}/metrics`)).text();
      expect(metrics).toMatch(/mainstay_accept_refused_total\{[^}]*reason="workspace_backpressure"[^}]*\} 1/);
    } finally {
      await small.stop();
    }
  });
});

describe("the description", () => {
  it("lists the headers that are read and answered, and the refusals that any request may meet", async () => {
    const { body } = await ask(`${api.url}/openapi.json`);
    type Described = { operationId: string; parameters?: { in: string; name: string }[]; responses: Record<string, { headers: Record<string, unknown> }> };
    const operations = Object.values(body["paths"] as Record<string, Record<string, Described>>)
      .flatMap((path) => Object.entries(path).map(([method, described]) => ({ method, ...described })));
    const headersOf = (id: string) => operations.find(({ operationId }) => operationId === id)?.parameters?.filter((one) => one.in === "header").map(({ name }) => name);
    expect(headersOf("streamEvents")).toContain("Last-Event-ID");
    expect(headersOf("getRun")).toContain("If-None-Match");
    expect(headersOf("createRun")).toEqual(["Idempotency-Key", "OpenWOP-Dedup", "traceparent", "OpenWOP-Version"]);
    for (const { method, operationId, responses } of operations) {
      expect(headersOf(operationId)?.includes("Idempotency-Key"), operationId).toBe(method === "post");
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(["400", "403", "406", "426", "503"]));
      for (const { headers } of Object.values(responses)) expect(headers).toHaveProperty("OpenWOP-Version");
      expect(responses["503"]?.headers).toHaveProperty("Retry-After");
    }
  });
});
