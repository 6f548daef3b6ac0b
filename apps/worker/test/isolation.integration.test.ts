import { randomUUID } from "node:crypto";
import { createClaim, type ClaimAnswer, type ClaimRequest, type ClaimedRun, type GroupCommit } from "@mainstay/database";
import { defineWorkflow } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { takeTicket } from "../src/claiming/take-ticket.js";
import { createHeldRuns } from "../src/runs/held-runs.js";
import { openPlace, openWorker, type Place, type TestWorker } from "./open-worker.js";

const executed: string[] = [];
const patient = defineWorkflow({
  id: "patient", version: "1",
  nodes: { wait: { run: ({ run, signal }) => {
    executed.push(run.id);
    return new Promise((_, stop) => { signal.addEventListener("abort", () => { stop(new Error("the test is over")); }); });
  } } },
});

let place: Place;
beforeAll(async () => { place = await openPlace([{ document: patient.document, workflow: patient }]); });
afterAll(() => place.close());

/** Accepts a run that was lost again and may have so many in its process, itself included. */
async function acceptIsolated(company: number): Promise<string> {
  const runId = await place.accept("patient");
  await place.sql("update runs set cohort_limit = $2, stale_deaths = 2 where id = $1", [runId, company]);
  return runId;
}

async function claim(worker: TestWorker, runId: string): Promise<ClaimedRun> {
  const claimOne = createClaim(place.db, () => ({ incarnation: worker.incarnation, requires: place.workflows.requires(), holding: 0, leaseMs: 60_000 }), { giveUpMs: 5_000 });
  const answer = await claimOne({ runId, claimId: randomUUID() });
  if (answer.kind !== "claimed") throw new Error(`the claim was answered ${answer.kind}`);
  return answer.run;
}

test("of two claims under way at once for isolated runs only one is begun; a run without a limit is not begun beside it either", async () => {
  const worker = await openWorker(place);
  const isolated = await claim(worker, await acceptIsolated(1));
  const [second, plain] = [await claim(worker, await acceptIsolated(1)), await claim(worker, await place.accept("patient"))];
  await worker.runs.begin(isolated, worker.incarnation);
  await expect(worker.runs.begin(second, worker.incarnation)).rejects.toThrow("an isolated run has no room for it here");
  await expect(worker.runs.begin(plain, worker.incarnation)).rejects.toThrow("an isolated run has no room for it here");
  await until("the first to run", () => executed.length > 0);
  expect(executed).toEqual([`acme/${isolated.id}`]);
  expect([...worker.held.byId.keys()]).toEqual([isolated.id]);
  worker.held.dropAll("the test is over");
});

test("an isolated run is begun in the company that its limit allows", async () => {
  const worker = await openWorker(place);
  const three = [await acceptIsolated(2), await place.accept("patient"), await place.accept("patient")];
  const claimed: ClaimedRun[] = [];
  for (const runId of three) claimed.push(await claim(worker, runId));
  const outcomes = await Promise.allSettled(claimed.map((run) => worker.runs.begin(run, worker.incarnation)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  worker.held.dropAll("the test is over");
});

test("the slot of a claim stays reserved until its run stands in it", async () => {
  const held = createHeldRuns(3);
  const gates: { open?: () => void } = {};
  const begun = new Promise<void>((open) => { gates.open = open; });
  const claimAll = ((request: ClaimRequest): Promise<ClaimAnswer> => Promise.resolve({ kind: "claimed", run: { id: request.runId } as ClaimedRun })) as GroupCommit<ClaimRequest, ClaimAnswer>;
  await takeTicket({
    claim: claimAll, held, incarnation: () => "i", draining: () => false, begin: () => begun, putBack: () => Promise.resolve(),
    onLostReply: () => undefined, onAnswer: () => undefined, onError: (error) => { throw error; },
  }, ["one"]);
  expect([held.reserved(), held.free()]).toEqual([1, 2]);
  gates.open?.();
  await until("the slot to be let go", () => held.reserved() === 0);
});
