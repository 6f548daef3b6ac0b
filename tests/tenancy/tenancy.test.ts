import { projectId } from "@mainstay/contract";
import { createDatabase, revokeKey } from "@mainstay/database";
import { createClient } from "@mainstay/sdk";
import { startTestFleet, type TestFleet } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dumpTables, stillTables } from "./dump-tables.js";
import { readOperations, type Operation } from "./read-operations.js";

const everyScope = ["runs:create", "runs:read", "runs:cancel", "manifest:read", "ops:read", "ops:admin"];

/** The fleet's own default times: nobody is taken over here, and a loaded machine may be slow. */
const calm = {
  MAINSTAY_HEARTBEAT_MS: "1000", MAINSTAY_LEASE_MS: "3000", MAINSTAY_STATEMENT_TIMEOUT_MS: "2000", MAINSTAY_IDLE_TX_TIMEOUT_MS: "1000",
  MAINSTAY_WEDGED_AFTER_MS: "10000",
};

let fleet: TestFleet;
let operations: readonly Operation[];
let ended: string;
let pending: string;
const keys = { good: "", revoked: "", wrongScope: "", foreign: "" };

beforeAll(async () => {
  fleet = await startTestFleet({ broker: "none", relay: 0, supervisors: 0, workers: 1, name: "tenancy", env: calm });
  keys.good = await fleet.createKey({ workspace: "alpha", scopes: everyScope });
  keys.revoked = await fleet.createKey({ workspace: "alpha", scopes: everyScope });
  keys.wrongScope = await fleet.createKey({ workspace: "alpha", scopes: ["artifacts:read"] });
  // Another workspace's key may do everything with runs, in its own workspace; the fleet's operator it is not.
  keys.foreign = await fleet.createKey({ workspace: "beta", scopes: ["runs:create", "runs:read", "runs:cancel"] });
  await revoke(keys.revoked);
  const { runs } = createClient({ url: fleet.apiUrl(), key: keys.good });
  ended = (await runs.create("conformance-identity", { payload: { note: "of alpha" } }, { tags: ["alpha-tag"] })).runId;
  await runs.result(ended, { timeoutMs: 30_000 });
  // From here on nothing moves by itself: no worker lives.
  await Promise.all(fleet.fleet.of("worker").map((worker) => worker.kill("SIGTERM")));
  pending = (await runs.create("conformance-noop")).runId;
  operations = await readOperations(fleet.apiUrl());
}, 120_000);
afterAll(() => fleet.stop());

async function revoke(key: string): Promise<void> {
  const database = createDatabase({ url: fleet.databaseUrl, applicationName: "test", poolSize: 1, statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 });
  try {
    await revokeKey(database, key.split("_")[1] ?? "");
  } finally {
    await database.end();
  }
}

/** A valid body of each operation that needs one. A new operation is added here, or the test names it. */
const bodies = (runId: string): Readonly<Record<string, unknown>> => ({
  createRun: { workflowId: "conformance-noop", tenantId: "alpha" },
  cancelRun: { reason: "no longer wanted" },
  bulkCancelRuns: { runIds: [runId] },
  forkRun: { mode: "replay" },
});

/** Addressed to a run of workspace alpha; valid in every respect but the key. */
function request(operation: Operation, key: string | undefined, runId = operation.method === "GET" ? ended : pending): Promise<Response> {
  const path = operation.path.replace("{runId}", projectId(runId));
  if (path.includes("{")) throw new Error(`say here what ${operation.path} is filled with`);
  if (operation.needsBody && !(operation.operationId in bodies(runId))) throw new Error(`say in bodies what a valid request of ${operation.operationId} is`);
  return fetch(`${fleet.apiUrl()}${path}`, {
    method: operation.method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(operation.needsBody ? { "content-type": "application/json" } : {}),
    },
    ...(operation.needsBody ? { body: JSON.stringify(bodies(runId)[operation.operationId]) } : {}),
    signal: AbortSignal.timeout(20_000),
  });
}

/** Sends the request of every keyed operation, and answers what each one answered; nothing may have changed. */
async function refuseAll(key: string | undefined): Promise<{ operation: Operation; status: number; text: string }[]> {
  const before = stillTables(await dumpTables(fleet));
  const answers = [];
  for (const operation of operations.filter(({ open }) => !open)) {
    const response = await request(operation, key);
    answers.push({ operation, status: response.status, text: await response.text() });
  }
  expect(stillTables(await dumpTables(fleet))).toEqual(before);
  return answers;
}

/** A run in the state that the operation is for, where that is not the one of the refusals. */
async function inState({ operationId, addressed, method }: Operation): Promise<string | undefined> {
  if (!addressed || method === "GET") return undefined;
  if (operationId === "forkRun") return ended;
  const { runs } = createClient({ url: fleet.apiUrl(), key: keys.good });
  const { runId } = await runs.create("conformance-noop");
  if (operationId === "resumeRun") await runs.pause(runId);
  return runId;
}

const shown = (answers: { operation: Operation; status: number }[]) => answers.map(({ operation, status }) => `${operation.operationId} ${String(status)}`);
const all = (status: number) => operations.filter(({ open }) => !open).map(({ operationId }) => `${operationId} ${String(status)}`);

describe("every operation of /openapi.json", () => {
  it("answers 401 without a key and changes nothing", async () => {
    expect(operations.filter(({ open }) => !open).length).toBeGreaterThanOrEqual(10);
    expect(shown(await refuseAll(undefined))).toEqual(all(401));
  });

  it("answers 401 to a malformed, an unknown and a revoked key and changes nothing", async () => {
    expect(shown(await refuseAll("mst_nonsense"))).toEqual(all(401));
    expect(shown(await refuseAll(`mst_${"0".repeat(16)}_${"A".repeat(43)}`))).toEqual(all(401));
    expect(shown(await refuseAll(keys.revoked))).toEqual(all(401));
  });

  it("answers 403 to a key without its scope and changes nothing", async () => {
    expect(shown(await refuseAll(keys.wrongScope))).toEqual(all(403));
  });

  it("answers 403 or 404 to another workspace's key, tells it nothing and changes nothing", async () => {
    for (const { operation, status, text } of await refuseAll(keys.foreign)) {
      // The list of a workspace's runs names no workspace: everybody reads their own, and this one is empty.
      if (operation.operationId === "listRuns") expect([status, text]).toEqual([200, '{"runs":[]}']);
      // What is wrong with one run of many is told in its place: the request itself is its own workspace's.
      else if (operation.operationId === "bulkCancelRuns") expect([status, JSON.parse(text)]).toMatchObject([200, { results: [{ ok: false, error: { error: "id_tenant_mismatch" } }] }]);
      else expect([403, 404], `${operation.operationId} ${text}`).toContain(status);
      expect(text).not.toContain("of alpha");
      expect(text).not.toContain("alpha-tag");
      expect(text).not.toContain(ended.split("/")[1]);
      expect(text).not.toContain(pending.split("/")[1]);
    }
  });

  it("answers an unknown run of another workspace as it answers a known one", async () => {
    const unknown = "alpha/01900000-0000-7000-8000-000000000000";
    for (const operation of operations.filter(({ addressed }) => addressed)) {
      const known = await request(operation, keys.foreign);
      const other = await request(operation, keys.foreign, unknown);
      expect([other.status, await other.text()]).toEqual([known.status, await known.text()]);
    }
  });

  it("answers a success to the right key: the refusals above were about keys", async () => {
    for (const operation of operations) {
      const response = await request(operation, operation.open ? undefined : keys.good, await inState(operation));
      expect([200, 201, 202], `${operation.operationId} ${await response.text()}`).toContain(response.status);
    }
  });
});

describe("a key", () => {
  it("stands in no column of any table, nor in a line that a process wrote", async () => {
    const dump = await dumpTables(fleet);
    const written = fleet.fleet.processes().flatMap((one) => one.lines().map(({ text }) => text));
    expect([...dump.values()].flat().length).toBeGreaterThan(10);
    for (const key of [...Object.values(keys), fleet.key]) {
      const secret = key.split("_").slice(2).join("_");
      for (const shape of [key, secret, Buffer.from(secret).toString("hex"), Buffer.from(secret).toString("base64"), Buffer.from(secret, "base64url").toString("hex")]) {
        for (const [table, rows] of dump) expect(rows.filter((row) => row.includes(shape)), table).toEqual([]);
        expect(written.filter((line) => line.includes(shape))).toEqual([]);
      }
    }
  });
});
