import { randomUUID } from "node:crypto";
import { createClaim, requestStop, type Queryable, type ReleaseLimits } from "@mainstay/database";
import { ownFixtures } from "@mainstay/domain";
import { defineWorkflow } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAuditLoop } from "../src/claiming/audit-loop.js";
import { openPlace, openWorker, type Place, type TestWorker } from "./open-worker.js";

const limits: ReleaseLimits = { crashLimit: 5, lossLimit: 20, handBackLimit: 20, backoffBaseMs: 1_000, retentionDays: 30 };
const STATEMENT_TIMEOUT_MS = 300;

let stopped: string[] = [];
const patient = defineWorkflow({
  id: "patient", version: "1",
  nodes: { wait: { run: ({ run, signal }) => new Promise((_, stop) => { signal.addEventListener("abort", () => { stopped.push(run.id); stop(new Error("told to stop")); }); }) } },
});

let place: Place;
beforeAll(async () => { place = await openPlace([{ document: patient.document, workflow: patient }, ...ownFixtures.map((document) => ({ document }))]); });
afterAll(() => place.close());

/** The audit of a worker, told in numbers. */
function auditOf(worker: TestWorker) {
  const seen = { mislaid: 0, fenced: 0, lapsed: 0, attests: 0 };
  const loop = startAuditLoop({
    db: place.db, held: worker.held, workflows: place.workflows, limits, auditMs: 60_000, statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    life: { incarnation: () => worker.incarnation, attest: () => { seen.attests += 1; }, validUntil: () => Number.POSITIVE_INFINITY },
    heed: worker.runs.heed, wakeSweep: () => undefined, onLapsed: () => { seen.lapsed += 1; }, onMislaid: (count) => { seen.mislaid += count; },
    onFenced: () => { seen.fenced += 1; }, onError: (error) => { throw error; },
  });
  return { seen, loop };
}

/** Claims on a connection that loses every reply of a claim after its commit. */
async function claimUnheard(worker: TestWorker, runId: string): Promise<void> {
  const deaf: Queryable = {
    query: async (statement, values) => {
      const rows = await place.db.query(statement, values);
      if (statement.name === "runs.claim") throw Object.assign(new Error("the reply is lost"), { code: "ECONNRESET" });
      return rows;
    },
  };
  const claim = createClaim(deaf, () => ({ incarnation: worker.incarnation, requires: place.workflows.requires(), holding: 0, leaseMs: 3_000 }), { giveUpMs: 50 });
  await expect(claim({ runId, claimId: randomUUID() })).rejects.toThrow("the reply is lost");
}

const ownerOf = async (runId: string) => (await place.sql<{ owner: string | null }>("select owner from runs where id = $1", [runId]))[0]?.owner;

test("a run whose claim was never heard of is handed back by the audit while its worker lives, charged to nobody, and ends", async () => {
  const worker = await openWorker(place);
  const runId = await place.accept("mainstay-recover");
  await claimUnheard(worker, runId);
  expect(await ownerOf(runId)).toBe(worker.incarnation);
  const { seen, loop } = auditOf(worker);
  await until("the audit to hand the run back", () => {
    loop.now();
    return seen.mislaid === 1;
  });
  await loop.stop();
  expect(await place.sql("select owner, crashes, losses, lost_trigger from runs where id = $1", [runId])).toEqual([{ owner: null, crashes: 0, losses: 1, lost_trigger: "mislaid" }]);
  expect(await worker.sweep()).toBe(1);
  expect(await place.ended(runId)).toBe("completed");
});

test("a claim that is younger than a statement may last is left alone: its reply may be on its way", async () => {
  const worker = await openWorker(place);
  const runId = await place.accept("patient");
  await claimUnheard(worker, runId);
  await place.sql("update runs set claimed_at = now() + interval '1 minute' where id = $1", [runId]);
  const { seen, loop } = auditOf(worker);
  await until("an audit", () => seen.attests >= 1);
  await loop.stop();
  expect(seen.mislaid).toBe(0);
  expect(await ownerOf(runId)).toBe(worker.incarnation);
  await place.sql("delete from runs where id = $1", [runId]);
});

test("an audit carries a cancel to the run's code and leaves the other runs alone", async () => {
  stopped = [];
  const worker = await openWorker(place);
  const [cancelled, other] = [await place.accept("patient"), await place.accept("patient")];
  expect(await worker.sweep()).toBe(2);
  await until("both to run", () => [...worker.held.byId.values()].filter(({ executions }) => executions.size === 1).length === 2);
  await requestStop(place.db, { runId: cancelled, workspace: "acme", by: "k" });
  const { loop } = auditOf(worker);
  expect(await place.ended(cancelled)).toBe("cancelled");
  await loop.stop();
  expect(stopped).toEqual([`acme/${cancelled}`]);
  expect([...worker.held.byId.keys()]).toEqual([other]);
  worker.held.dropAll("the test is over");
});

test("a run that the database gives to another is dropped, and an incarnation that has lapsed is told so", async () => {
  const worker = await openWorker(place);
  const runId = await place.accept("patient");
  await worker.sweep();
  await until("it to run", () => worker.held.byId.get(runId)?.executions.size === 1);
  await place.sql("update runs set owner = gen_random_uuid(), fence = fence + 2 where id = $1", [runId]);
  const { seen, loop } = auditOf(worker);
  await until("the run to be dropped", () => worker.held.byId.size === 0);
  expect(seen).toMatchObject({ fenced: 1, mislaid: 0, lapsed: 0 });
  await place.sql("update incarnations set lapsed_at = now() where id = $1", [worker.incarnation]);
  await until("the lapse to be told", () => {
    loop.now();
    return seen.lapsed > 0;
  });
  await loop.stop();
});
