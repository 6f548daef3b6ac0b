import { createClient, type Client } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";

let chaos: ChaosFleet;
let client: Client;
let killed = 0;
const runIds: string[] = [];
beforeAll(async () => {
  chaos = await startChaosFleet({ name: "pauses", broker: "none" });
  client = createClient({ url: chaos.apiUrl(), key: chaos.key });
});
afterAll(async () => { await chaos.stop(); });

async function submit(input: Readonly<Record<string, unknown>>): Promise<string> {
  const runId = await chaos.submit("chaos-order", { url: chaos.receiver.url, businessKey: `order-${String(runIds.length)}`, ...input });
  runIds.push(runId);
  return runId;
}

const typesOf = async (runId: string) => (await chaos.log(runId)).map(({ type }) => type);
const begun = (runId: string, nodeId: string, times = 1) =>
  until(`${nodeId} to begin`, () => chaos.begun().filter((one) => one.runId === runId && one.nodeId === nodeId).length >= times);
const paused = (runId: string) => until("the run to be paused", async () => (await typesOf(runId)).includes("run.paused"));

/** Kills whoever acquired the run last; a new worker takes its place. */
async function killHolder(runId: string): Promise<void> {
  const acquired = (await chaos.log(runId)).filter(({ type }) => type === "lease.acquired").at(-1);
  await chaos.fleet.of("worker").find(({ incarnation }) => incarnation === acquired?.payload["instanceId"])!.kill("SIGKILL");
  killed += 1;
  await chaos.fleet.add("worker");
}

async function goesOnToItsEnd(runId: string): Promise<void> {
  const before = await typesOf(runId);
  expect(before.at(-1)).toBe("run.paused");
  expect((await client.runs.get(runId)).status).toBe("paused");
  await client.runs.resume(runId);
  await expectCompleted(chaos, [runId]);
  await checkStanding(chaos, runIds, { SIGKILL: killed });
}

test("a holder killed while its node drains: the run is released as paused, and goes on only when it is resumed", async () => {
  const runId = await submit({ firstMs: 20_000 });
  await begun(runId, "first");
  await client.runs.pause(runId);
  await killHolder(runId);
  await paused(runId);
  expect(chaos.begun().filter((one) => one.runId === runId)).toHaveLength(1);
  const going = goesOnToItsEnd(runId);
  await begun(runId, "first", 2);
  await going;
});

test("a holder killed with its request on the wire before it has seen an immediate pause: the resumed run's effect is accepted once", async () => {
  chaos.receiver.plan({ then: "hang" });
  const runId = await submit({ timeoutMs: 2_000 });
  await until("the request on the wire", () => chaos.receiver.open().length === 1);
  chaos.receiver.plan({});
  await Promise.all([client.runs.pause(runId, { drainPolicy: "immediate" }), killHolder(runId)]);
  await paused(runId);
  await goesOnToItsEnd(runId);
});

test("a holder killed right after it wrote the pause: nothing is taken over, and a peer goes on", async () => {
  const runId = await submit({ firstMs: 20_000 });
  await begun(runId, "first");
  await client.runs.pause(runId, { drainPolicy: "immediate" });
  await paused(runId);
  await killHolder(runId);
  await goesOnToItsEnd(runId);
  expect((await typesOf(runId)).filter((type) => type === "workflow.restored")).toEqual([]);
});

test("a holder killed after the resume: the run is taken over like any other", async () => {
  const runId = await submit({ firstMs: 1_500 });
  await begun(runId, "first");
  await client.runs.pause(runId, { drainPolicy: "immediate" });
  await paused(runId);
  await client.runs.resume(runId);
  await begun(runId, "first", 2);
  await killHolder(runId);
  await expectCompleted(chaos, [runId]);
  expect(await typesOf(runId)).toContain("workflow.restored");
  await checkStanding(chaos, runIds, { SIGKILL: killed });
});
