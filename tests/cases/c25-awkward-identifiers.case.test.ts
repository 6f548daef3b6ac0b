import { createClient } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { startDoorbellFleet, type DoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { defineCase } from "./lane/define-case.js";

const workflowIds = ["a:b", "a:b:c", "a:b:c:d", "12345", "w".repeat(128), "~.-_:"];
const illegalWorkflowIds = ["größe", "w".repeat(255), "https://example.org/flow", "", "a b", "a/b"];
const keys = ["1234567890123456789012", "a.b_c~d-e.f_g~h-i.j_k~", "k".repeat(128)];
const illegalKeys = ["a:b", "a:b:c", "a:b:c:d", "12345", "k".repeat(255), "https://example.org/orders/1", "schlüssel-schlüssel-xyz"];
const workspaces = ["12345", "A.b_c-d", "w".repeat(64)];
const illegalTenants = ["a:b", "größe", "t".repeat(255), "https://example.org"];
const scopes = ["a:b:c:d", "größe", "https://example.org/x?y=z", "s".repeat(256), "12345"];

defineCase({
  id: "C25", title: "every identifier that the api takes works end to end, every other is refused naming its rule",
  fullMinutes: 1, scaledSeconds: 20,
}, async (on) => {
  const fleet = await startDoorbellFleet(on, { env: { CASE_WORKFLOW_IDS: workflowIds.join(" "), CASE_RETRY_BASE_MS: "200" } });
  const ended: string[] = [];
  for (const id of workflowIds) ended.push(...await endToEnd(fleet, { workflowId: id, key: undefined, apiKey: fleet.key }));
  for (const key of keys) ended.push(...await endToEnd(fleet, { workflowId: "doorbell-fast", key, apiKey: fleet.key }));
  for (const workspace of workspaces) ended.push(...await endToEnd(fleet, { workflowId: "a:b:c", key: undefined, apiKey: await fleet.createKey({ workspace }) }));
  for (const scopeId of scopes) {
    const answer = await post(fleet, { workflowId: "doorbell-fast", scopeId, tenantId: "test" }, { "openwop-dedup": "enforce" });
    expect(answer, scopeId.slice(0, 30)).toMatchObject({ status: 201 });
    ended.push(answer.runId);
  }
  const statuses = await fleet.waitEnded(ended);
  expect([...statuses].filter(([, status]) => status !== "completed")).toEqual([]);

  const bad: [string, Promise<Answer>, rule: RegExp][] = [
    ...illegalWorkflowIds.map((id): [string, Promise<Answer>, RegExp] => [`workflow id ${id}`, post(fleet, { workflowId: id }), /workflowId.*expected 1 to 128/]),
    ...illegalKeys.map((key): [string, Promise<Answer>, RegExp] => [`key ${key}`, post(fleet, { workflowId: "a:b" }, { "idempotency-key": encodeURI(key) === key ? key : Buffer.from(key).toString("latin1") }), /Idempotency-Key: expected 22 to 128/]),
    ...illegalTenants.map((tenantId): [string, Promise<Answer>, RegExp] => [`tenant ${tenantId}`, post(fleet, { workflowId: "a:b", tenantId }), /tenantId: expected/]),
    ["scope of 257", post(fleet, { workflowId: "a:b", scopeId: "s".repeat(257) }), /scopeId/],
    ["no scope", post(fleet, { workflowId: "a:b", scopeId: "" }), /scopeId/],
  ];
  for (const [what, asked, rule] of bad) {
    const { status, text } = await asked;
    expect(status, `${what}: ${text}`).toBeGreaterThanOrEqual(400);
    expect(status, `${what}: ${text}`).toBeLessThan(what.startsWith("tenant") ? 404 : 401);
    expect(text, what).toMatch(rule);
  }
  on.measure("identifiers that went end to end", ended.length);
  on.measure("identifiers refused", bad.length);
  const enqueueErrors = fleet.fleet.processes().flatMap((one) => one.lines().filter(({ event }) => ["tickets not published", "outbox row isolated", "ticket refused"].includes(String(event?.["msg"]))));
  expect(enqueueErrors.map(({ text }) => text)).toEqual([]);
  on.notRun("replay of each", "replay");
});

type Answer = { status: number; text: string; runId: string };

/** Creates a run, one that is retried, and one that is cancelled, each by its bound id; answers those that shall complete. */
async function endToEnd(fleet: DoorbellFleet, { workflowId, key, apiKey }: { workflowId: string; key: string | undefined; apiKey: string }): Promise<string[]> {
  const client = createClient({ url: fleet.apiUrl(), key: apiKey });
  const options = key === undefined ? {} : { idempotencyKey: key };
  const { runId } = await client.runs.create(workflowId, {}, options);
  if (key !== undefined) expect((await client.runs.create(workflowId, {}, options)).runId).toBe(runId);
  const { runId: retried } = await client.runs.create("doorbell-retried", { url: fleet.receiver.url, businessKey: `${runId} retried` });
  const { runId: cancelled } = await client.runs.create("doorbell-delayed", { url: fleet.receiver.url, businessKey: runId, delayMs: 600_000 });
  await until("it to wait", async () => (await client.runs.get(cancelled)).status === "running", 10_000);
  await client.runs.cancel(cancelled, key === undefined ? {} : { idempotencyKey: key });
  expect((await client.runs.result(cancelled, { timeoutMs: 10_000 })).status).toBe("cancelled");
  expect((await client.runs.result(runId, { timeoutMs: 10_000 })).status).toBe("completed");
  return [runId, retried];
}

async function post(fleet: DoorbellFleet, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(`${fleet.apiUrl()}/runs`, {
    method: "POST", headers: { authorization: `Bearer ${fleet.key}`, "content-type": "application/json", ...headers }, body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, runId: String((JSON.parse(text) as { runId?: string }).runId) };
}
