import { BoundsResponse, Discovery, DoctorResponse, InstancesResponse } from "@mainstay/contract";
import { revokeKey } from "@mainstay/database";
import { connect } from "node:net";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectRefusal } from "./http.js";
import { startApi, type TestApi } from "./start-api.js";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.makeKey("acme");
});
afterAll(() => api.stop());

describe("discovery", () => {
  it("needs no key, has a closed root, and advertises only what is registered", async () => {
    const answer = await ask(`${api.url}/.well-known/openwop`);
    expect(answer.status).toBe(200);
    const document = Discovery.parse(answer.body);
    expect(document.fixtures).toEqual(["conformance-noop"]);
    expect(document.deadLetter?.retentionDays).toBe(30);
    expect(document.replay).toMatchObject({ modes: ["replay", "branch"], retention: { days: 30 } });
    const tag = answer.headers.get("etag") ?? "";
    const same = await ask(`${api.url}/.well-known/openwop`, { headers: { "if-none-match": tag } });
    expect([same.status, same.text, same.headers.get("openwop-version")]).toEqual([304, "", "2.0"]);
  });

  it("is the same with the version, its major, and none; another version is refused with what is served", async () => {
    const url = `${api.url}/.well-known/openwop`;
    const plain = await ask(url);
    for (const version of ["2", "2.0"]) expect((await ask(url, { headers: { "openwop-version": version } })).text).toBe(plain.text);
    for (const version of ["1", "9.0", "x"]) {
      const details = expectRefusal(await ask(url, { headers: { "openwop-version": version } }), 406, "protocol_version_unsupported");
      expect(details["protocolVersions"]).toEqual(["2.0"]);
    }
    expectRefusal(await ask(url, { headers: { "openwop-client-version": "1.9" } }), 426, "client_version_unsupported");
    expect((await ask(url, { headers: { "openwop-client-version": "junk" } })).status).toBe(200);
  });
});

describe("an error", () => {
  it("has the envelope on unknown routes, methods, URLs and bytes", async () => {
    expectRefusal(await ask(`${api.url}/nope`), 404, "not_found");
    expectRefusal(await ask(`${api.url}/v1/runs`, { key }), 404, "not_found");
    expectRefusal(await ask(`${api.url}/runs`, { method: "DELETE", key }), 405, "mainstay.method_not_allowed");
    expectRefusal(await ask(`${api.url}/host/durability/kill`, { key, body: {} }), 404, "not_found");
    expectRefusal(await ask(`${api.url}/runs/%E0%A4%A`, { key }), 400, "validation_error");
    const raw = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(api.url).port), "127.0.0.1", () => socket.write("nonsense\r\n\r\n"));
      let text = "";
      socket.on("data", (chunk) => { text += chunk.toString(); });
      socket.on("close", () => { resolve(text); });
    });
    expect(raw).toMatch(/^HTTP\/1\.1 400 [\s\S]*OpenWOP-Version: 2\.0[\s\S]*"error":"validation_error"/);
  });

  it("bears a request id and says how to authenticate", async () => {
    const answer = await ask(`${api.url}/runs`);
    expectRefusal(answer, 401, "unauthenticated");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a key", () => {
  const list = (presented: string) => ask(`${api.url}/runs`, { key: presented });

  it("is refused when it is malformed, unknown, of another secret, or expired", async () => {
    const [prefix, id, secret = ""] = key.split("_");
    const other = `${secret.startsWith("A") ? "B" : "A"}${secret.slice(1)}`;
    for (const wrong of ["x", "mst_a_b", `mst_${"0".repeat(16)}_${secret}`, [prefix, id, other].join("_")]) {
      expectRefusal(await list(wrong), 401, "unauthenticated");
    }
    const brief = await api.makeKey("acme", ["runs:read"], 1);
    const late = await until("the key to expire", async () => {
      const answer = await list(brief);
      return answer.status === 401 ? answer : undefined;
    });
    expectRefusal(late, 401, "unauthenticated");
  });

  it("is refused on the next request after its revocation", async () => {
    const brief = await api.makeKey("acme", ["runs:read"]);
    expect((await list(brief)).status).toBe(200);
    await revokeKey(api.database, brief.split("_")[1] ?? "");
    expectRefusal(await list(brief), 401, "credential_revoked");
  });

  it("does only what its scopes say", async () => {
    const reader = await api.makeKey("acme", ["runs:read"]);
    expect((await list(reader)).status).toBe(200);
    const refused = await ask(`${api.url}/runs`, { key: reader, body: { workflowId: "conformance-noop" } });
    expect(expectRefusal(refused, 403, "forbidden")["scope"]).toBe("runs:create");
    expectRefusal(await ask(`${api.url}/ops/v1/bounds`, { key: reader }), 403, "forbidden");
  });

  it("is looked up once for all requests that come while a look-up is under way", async () => {
    const before = api.statements.get("keys.find") ?? 0;
    await Promise.all(Array.from({ length: 60 }, () => list(key)));
    expect((api.statements.get("keys.find") ?? 0) - before).toBeLessThan(30);
  });
});

describe("operations", () => {
  it("serve bounds that are the sums of their terms", async () => {
    const bounds = BoundsResponse.parse((await ask(`${api.url}/ops/v1/bounds`, { key })).body);
    for (const { bound, terms } of bounds.recovery) expect(terms.reduce((sum, { ms }) => sum + ms, 0)).toBe(bound);
    expect(bounds.recovery.find((one) => one.class === "leased")?.bound).toBe(4_500);
    expect(bounds.attempts.terms.reduce((sum, { count }) => sum + count, 0)).toBe(bounds.attempts.bound);
  });

  it("list instances, and the doctor names the roles that are missing", async () => {
    InstancesResponse.parse((await ask(`${api.url}/ops/v1/instances`, { key })).body);
    const doctor = DoctorResponse.parse((await ask(`${api.url}/ops/v1/doctor`, { key })).body);
    expect(doctor.ok).toBe(false);
    expect(doctor.checks.find((check) => check.name === "worker")).toMatchObject({ state: "failed", seen: "0 live" });
    expect(doctor.checks.find((check) => check.name === "schema")?.state).toBe("ok");
  });
});

describe("probes and descriptions", () => {
  it("answer without a key", async () => {
    for (const probe of ["live", "ready", "startup"]) expect((await ask(`${api.url}/health/${probe}`)).body).toEqual({ status: "ok" });
    const metrics = await fetch(`${api.url}/metrics`);
    expect(metrics.headers.get("content-type")).toContain("text/plain");
    expect(await metrics.text()).toContain("mainstay_http_request_duration_seconds");
    const page = await fetch(`${api.url}/docs/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  });

  it("describe every operation in OpenAPI 3.1 under its own id", async () => {
    const { body } = await ask(`${api.url}/openapi.json`);
    const document = body as { openapi: string; paths: Record<string, Record<string, { operationId?: string; security?: unknown[] }>> };
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const ids = operations.map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain(undefined);
    const open = operations.filter((operation) => operation.security?.length === 0).map((operation) => operation.operationId);
    expect(open.sort()).toEqual(["discover", "getOpenApi", "healthLive", "healthReady", "healthStartup", "metrics"]);
  });
});
