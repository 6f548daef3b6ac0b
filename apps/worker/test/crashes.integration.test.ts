import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "@mainstay/testing";
import { afterEach, expect, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { bare, startStage, type Stage } from "./stage/start-stage.js";

// The back-off of a run that was lost again, divided as the lease is.
const folder = fileURLToPath(new URL("../../../.data/tests/worker", import.meta.url));
mkdirSync(folder, { recursive: true });
const policy = path.join(folder, "policy.yaml");
writeFileSync(policy, "runtime:\n  handler_retry_base_seconds: 0.25\n");

let stage: Stage;
afterEach(async () => { await stage.stop(); });

type Counters = { status: string; crashes: number; losses: number; handBacks: number; claims: number };
const countersOf = async (runId: string): Promise<Counters> =>
  (await stage.sql<Counters>(`select status, crashes, losses, hand_backs as "handBacks", claims from runs where id = $1`, [bare(runId)]))[0]!;

test("a run that kills its worker is buried at the crash limit, every death real and counted, while its neighbours complete uncharged", async () => {
  stage = await startStage({ workflows: "lives", name: "worker-crashes", workers: 2, env: { MAINSTAY_CRASH_LIMIT: "2", MAINSTAY_POLICY_FILE: policy } });
  const healthy = await Promise.all(Array.from({ length: 6 }, () => stage.submit("proof-hold", { holdMs: 300, times: 3 })));
  const poison = await stage.submit("mainstay-crash");
  const restarts: Promise<unknown>[] = [];
  await until("the poison to be buried", async () => {
    const dead = stage.fleet.processes().filter((one) => one.role === "worker" && one.exit() !== undefined).length;
    while (restarts.length < dead) restarts.push(stage.fleet.add("worker"));
    return (await countersOf(poison)).status === "failed";
  }, 45_000);
  await Promise.all(restarts);
  const counters = await countersOf(poison);
  const deaths = stage.fleet.deaths()["SIGKILL"]!;
  expect(counters).toMatchObject({ crashes: 2, claims: deaths });
  expect(counters.crashes + counters.losses).toBe(deaths);
  expect(await stage.letters(poison)).toEqual([{ scope: "run", nodeId: null, class: "DEFECT", code: "platform.crash_limit_exceeded", disposition: "crash_limit_exceeded", state: "OPERATOR_DECISION_REQUIRED", attempts: deaths }]);
  const types = (await stage.log(poison)).map(({ type }) => type);
  expect(types.filter((type) => type === "node.started")).toHaveLength(deaths);
  expect(types.slice(-3)).toEqual(["lease.lost", "run.dead-lettered", "run.failed"]);
  expect(new Set((await stage.waitEnded(healthy)).values())).toEqual(new Set(["completed"]));
  expect(await stage.sql("select id from runs where id = any($1::uuid[]) and crashes > 0", [healthy.map(bare)])).toEqual([]);
  await checkStanding(stage, { SIGKILL: deaths });
});

test("a death that neighbours shared is charged to nobody, and from their second one on they are isolated until each has gone on", async () => {
  stage = await startStage({ workflows: "lives", name: "worker-shared", env: { MAINSTAY_POLICY_FILE: policy } });
  const runIds = await Promise.all(Array.from({ length: 8 }, () => stage.submit("proof-hold", { holdMs: 30_000, times: 2 })));
  for (const attempt of [0, 1]) {
    await until(`all to execute for time ${attempt}`, () => new Set(stage.noted().filter((line) => line.what === "began" && line.attempt === attempt).map(({ runId }) => runId)).size === 8);
    const [worker] = stage.fleet.of("worker");
    await worker!.kill("SIGKILL");
    if (attempt === 0) await stage.fleet.add("worker");
  }
  await until("all to be released in isolation", async () => {
    const rows = await stage.sql<{ limit: number | null; on: string; why: string }>(`select cohort_limit as "limit", waiting_on as "on", waiting_reason as why from runs where owner is null`);
    return rows.length === 8 && rows.every(({ limit, on, why }) => limit === 1 && on === "capacity" && why === "isolation");
  });
  await stage.fleet.add("worker");
  expect(new Set((await stage.waitEnded(runIds)).values())).toEqual(new Set(["completed"]));
  for (const runId of runIds) expect(await countersOf(runId)).toMatchObject({ crashes: 0, losses: 2, claims: 3 });
  // each was alone in the one process until its first checkpoint freed it
  const alone = await stage.sql<{ from: Date; to: Date }>(
    `select max(at) filter (where type = 'lease.acquired') as "from", min(at) filter (where type = 'node.completed') as "to" from run_events group by run_id order by 1`);
  for (const [index, { from }] of alone.slice(1).entries()) expect(from.getTime()).toBeGreaterThanOrEqual(alone[index]!.to.getTime());
  await checkStanding(stage, { SIGKILL: 2 });
});
