import { createClient } from "@mainstay/sdk";
import { loseReplies, startProxy, until, type Proxy } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";
import { submitOrders } from "./load/submit-orders.js";

const wanted = 200;
const statements = ["runs.claim", "runs.sweep", "runs.progress", "effects.launch", "effects.settle", "runs.hand_back"];

let chaos: ChaosFleet;
let proxy: Proxy;
beforeAll(async () => {
  chaos = await startChaosFleet({ name: "lost-replies", workers: 0 });
  proxy = await startProxy(chaos.databaseUrl);
});
afterAll(async () => {
  await chaos.stop();
  await proxy.stop();
});

test("two hundred replies lost after their commit lose no run, execute no node twice and end no process", async () => {
  const lost = new Map<string, number>();
  proxy.inspect(loseReplies({
    of: (name) => statements.includes(name) && Math.random() < 0.3,
    times: wanted,
    onLost: (name) => lost.set(name, (lost.get(name) ?? 0) + 1),
  }));
  // the working pool leads through the proxy; heartbeat and lifeline go straight
  const env = { DATABASE_URL: proxy.through(chaos.databaseUrl), DATABASE_DIRECT_URL: chaos.databaseUrl };
  await Promise.all([chaos.fleet.add("worker", { env }), chaos.fleet.add("worker", { env })]);

  const runIds: string[] = [];
  while (proxy.cuts() < wanted) {
    const accepted = await submitOrders(chaos, { count: 40, overMs: 1_000 }).done;
    runIds.push(...accepted.keys());
    await chaos.waitEnded([...accepted.keys()], 40_000);
  }
  const ended = await chaos.waitEnded(runIds);
  expect(new Set(ended.values())).toEqual(new Set(["completed"]));
  expect(proxy.cuts()).toBe(wanted);
  for (const name of ["runs.claim", "runs.progress", "effects.launch", "effects.settle"]) expect(lost.get(name) ?? 0).toBeGreaterThan(0);
  // claims that the worker never heard of: its audit found them, and the run began again within the declared bound
  const gaps = await chaos.sql<{ ms: number }>(
    `select extract(epoch from r.at - a.at) * 1000 as ms from run_events r
     join lateral (select at from run_events a where a.run_id = r.run_id and a.seq < r.seq and a.type = 'lease.acquired' order by a.seq desc offset 1 limit 1) a on true
     where r.type = 'workflow.restored' and r.payload->>'x-trigger' = 'mislaid'`);
  expect(gaps.length).toBeGreaterThan(0);
  const bounds = await createClient({ url: chaos.apiUrl(), key: chaos.key }).ops.bounds();
  const wedged = bounds.recovery.find((one) => one.class === "wedged")!.bound;
  expect(Math.max(...gaps.map(({ ms }) => Number(ms)))).toBeLessThanOrEqual(wedged);
  await checkStanding(chaos, runIds);
});

test("a run whose working route is a black hole while its worker lives is resumed by a peer", async () => {
  await until("the proxy to be whole again", () => proxy.cuts() === wanted);
  const env = { DATABASE_URL: proxy.through(chaos.databaseUrl), DATABASE_DIRECT_URL: chaos.databaseUrl };
  for (const worker of chaos.fleet.of("worker")) await worker.kill("SIGTERM");
  const cut = await chaos.fleet.add("worker", { env });
  const runIds = await Promise.all(Array.from({ length: 5 }, () => chaos.submit("chaos-hold", { holdMs: 1_500 })));
  await until("every run to execute", () => runIds.every((runId) => chaos.begun().some((one) => one.runId === runId && one.pid === cut.pid)));
  proxy.blackHole();
  const peer = await chaos.fleet.add("worker");
  expect(new Set((await chaos.waitEnded(runIds)).values())).toEqual(new Set(["completed"]));
  const triggers = new Set<unknown>();
  for (const runId of runIds) {
    const restored = (await chaos.log(runId)).find(({ type }) => type === "workflow.restored");
    expect(restored?.payload["x-instance-id"]).toBe(peer.incarnation);
    triggers.add(restored?.payload["x-trigger"]);
  }
  expect([...triggers].every((trigger) => trigger === "loop_wedged" || trigger === "heartbeat_expired")).toBe(true);
  proxy.heal();
  await checkStanding(chaos, runIds, chaos.fleet.deaths());
});
