import { fileURLToPath } from "node:url";
import { createClient, defineWorkflow } from "@mainstay/sdk";
import { expect } from "vitest";
import { defineCase, type CaseFleet } from "./lane/define-case.js";

const workflows = fileURLToPath(new URL("./load/big-workflows.mjs", import.meta.url));

defineCase({ id: "C40", title: "wide, long and heavy runs and a batch of ten thousand go through whole, or are refused by the name of the limit", fullMinutes: 8, scaledSeconds: 25 }, async (on) => {
  const fleet = await on.startFleet({ workflows, api: 2, env: { MAINSTAY_TEST_SCALE: on.scale } });
  const client = createClient({ url: fleet.apiUrl(), key: fleet.key });
  const runOne = async (workflow: string, inputs: object = {}) => {
    const began = performance.now();
    const { runId } = await client.runs.create(workflow, inputs);
    const result = await client.runs.result(runId, { timeoutMs: 300_000 });
    on.measure(workflow, Math.round(performance.now() - began), "ms");
    await expectDense(fleet, [runId]);
    return { ...result, types: (await fleet.log(runId)).map(({ type }) => type) };
  };

  on.tell("one run at a time");
  const fan = await runOne("big-fan");
  expect([fan.status, fan.outputs]).toEqual(["completed", { seen: 1_001 }]);
  expect(fan.types.filter((type) => type === "node.completed")).toHaveLength(1_002);
  expect((await runOne("big-line")).status).toBe("completed");
  expect((await runOne("big-heavy")).status).toBe("completed");
  for (const [workflow, nodes] of on.pick([["big-layers", 10_000], ["big-long-line", 10_000]] as const, [])) {
    const { status, types } = await runOne(workflow);
    expect([workflow, status, types.filter((type) => type === "node.completed").length]).toEqual([workflow, "completed", nodes]);
  }
  const heavy = await runOne("big-too-heavy");
  expect([heavy.status, heavy.error?.code, heavy.error?.details?.["code"]]).toEqual(["failed", "payload_too_large", "platform.data_limit_exceeded"]);
  expect(heavy.types.filter((type) => type === "node.failed" || type === "node.retried")).toEqual(["node.failed"]);
  const tooMany = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`n${String(index)}`, { type: "core.noop" as const }]));
  expect(() => defineWorkflow({ id: "too-many", version: "1", nodes: tooMany })).toThrow("at most 10000 nodes, the limit maxNodeExecutions");
  expect((await client.discovery()).limits?.maxNodeExecutions).toBe(10_000);

  on.tell("wide runs that are claimed together");
  const wide = await Promise.all(Array.from({ length: on.pick(64, 16) }, async () => (await client.runs.create("big-wide")).runId));
  const began = performance.now();
  expect(new Set((await fleet.waitEnded(wide, 240_000)).values())).toEqual(new Set(["completed"]));
  on.measure("wide runs together", Math.round(performance.now() - began), "ms");
  await expectDense(fleet, wide);

  const count = on.pick(10_000, 400);
  on.tell(`a batch of ${String(count)} runs`);
  const clients = fleet.fleet.of("api").map(({ url }) => createClient({ url, key: fleet.key }));
  const batch: string[] = [];
  const submitted = performance.now();
  await Promise.all(Array.from({ length: 64 }, async (_, lane) => {
    for (let index = lane; index < count; index += 64) {
      batch.push((await (clients[index % clients.length] ?? client).runs.create("conformance-noop", {}, { tags: ["batch"] })).runId);
    }
  }));
  on.measure("accepted a second", Math.round(count / ((performance.now() - submitted) / 1_000)));
  expect(new Set(batch).size).toBe(count);
  expect(new Set((await fleet.waitEnded(batch, 240_000)).values())).toEqual(new Set(["completed"]));
  on.measure("completed a second", Math.round(count / ((performance.now() - submitted) / 1_000)));
  await expectDense(fleet, batch);

  on.tell("listed page by page, none twice and none missing");
  const listed: string[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await client.runs.list({ limit: 100, workflowId: "conformance-noop", ...(cursor === undefined ? {} : { cursor }) });
    listed.push(...page.runs.map(({ runId }) => runId));
    cursor = page.nextCursor;
  }
  expect([...listed].sort()).toEqual([...batch].sort());
  on.notRun("export", "run export");
});

/** Every log is dense from 0, each number once, with one ending as its last event. */
async function expectDense(fleet: CaseFleet, runIds: readonly string[]): Promise<void> {
  expect(await fleet.sql(
    `select r.id from runs r cross join lateral (
       select count(*) as events, count(distinct seq) as numbers, max(seq) as last, min(seq) as first,
         max(seq) filter (where type in ('run.completed', 'run.failed', 'run.cancelled')) as ending
       from run_events e where e.run_id = r.id) l
     where r.id = any($1::uuid[]) and (l.events <> r.event_seq or l.numbers <> l.events or l.first <> 0 or l.last <> l.events - 1 or l.ending <> l.last)`,
    [runIds.map((runId) => runId.slice(runId.indexOf("/") + 1))],
  )).toEqual([]);
}
