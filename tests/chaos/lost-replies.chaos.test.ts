import { createClient } from "@mainstay/sdk";
import { createTestDatabase, loseReplies, startProxy, until, type Proxy, type TestDatabase } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./load/check-standing.js";
import { expectCompleted } from "./load/expect-completed.js";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";
import { submitOrders } from "./load/submit-orders.js";

const wanted = 200;
/** The batched verbs of a run's way through the fleet, and what finds and hands back what a lost reply mislaid. */
const verbs = ["keys.find", "runs.accept", "outbox.take", "runs.claim", "runs.progress", "effects.launch", "effects.settle"];
const also = ["outbox.delete", "runs.sweep", "runs.hand_back", "effects.relaunch"];

let database: TestDatabase;
let proxy: Proxy;
let chaos: ChaosFleet;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startProxy(database.url);
  // every working pool leads through the proxy; heartbeats and lifelines go straight
  chaos = await startChaosFleet({
    name: "lost-replies", databaseUrl: database.url,
    env: { DATABASE_URL: proxy.through(database.url), DATABASE_DIRECT_URL: database.url },
  });
});
afterAll(async () => {
  await chaos.stop();
  await proxy.stop();
  await database.drop();
});

test("two hundred replies lost after their commit lose no run, make no second one, execute no node twice and end no process", async () => {
  const lost = new Map<string, number>();
  proxy.inspect(loseReplies({
    of: (name) => (verbs.includes(name) || also.includes(name)) && Math.random() < 0.2,
    times: wanted,
    onLost: (name) => lost.set(name, (lost.get(name) ?? 0) + 1),
  }));
  const runIds: string[] = [];
  while (proxy.cuts() < wanted) {
    const accepted = await submitOrders(chaos, { count: 40, overMs: 1_000 }).done;
    runIds.push(...accepted.keys());
    await chaos.waitEnded([...accepted.keys()], 40_000);
  }
  await expectCompleted(chaos, runIds);
  expect(proxy.cuts()).toBe(wanted);
  for (const name of verbs) expect(`${name} ${lost.get(name) ?? 0}`).not.toBe(`${name} 0`);
  expect(await chaos.sql("select count(*)::int as runs from runs")).toEqual([{ runs: runIds.length }]);
  await checkMislaid();
  await checkStanding(chaos, runIds);
});

test("a lost reply of the second launch of an effect neither fails its run nor does the effect twice", async () => {
  const lost: string[] = [];
  proxy.inspect(loseReplies({ of: (name) => name === "effects.relaunch", times: 1, onLost: (name) => lost.push(name) }));
  chaos.receiver.plan({ then: "hang" });
  const runId = await chaos.submit("chaos-order", { url: chaos.receiver.url, businessKey: "launched-twice", timeoutMs: 3_000 });
  await until("the request on the wire", () => chaos.receiver.open().length === 1);
  chaos.receiver.plan({});
  const holder = (await chaos.log(runId)).findLast(({ type }) => type === "lease.acquired")?.payload["instanceId"];
  await chaos.fleet.of("worker").find(({ incarnation }) => incarnation === holder)!.kill("SIGKILL");
  await expectCompleted(chaos, [runId]);
  expect(lost).toEqual(["effects.relaunch"]);
  expect((await chaos.log(runId)).filter(({ type }) => type === "node.retried")).toEqual([]); // not the node's failure
  await checkStanding(chaos, [runId], { SIGKILL: 1 });
});

/** Claims that the worker never heard of: its audit found them, and the run began again within the declared bound. */
async function checkMislaid(): Promise<void> {
  const gaps = await chaos.sql<{ ms: number }>(
    `select (extract(epoch from r.at - a.at) * 1000)::float8 as ms from run_events r
     join lateral (select at from run_events a where a.run_id = r.run_id and a.seq < r.seq and a.type = 'lease.acquired' order by a.seq desc offset 1 limit 1) a on true
     where r.type = 'workflow.restored' and r.payload->>'x-trigger' = 'mislaid'`);
  expect(gaps.length).toBeGreaterThan(0);
  const bounds = await createClient({ url: chaos.apiUrl(), key: chaos.key }).ops.bounds();
  const wedged = bounds.recovery.find((one) => one.class === "wedged")!.bound;
  expect(Math.max(...gaps.map(({ ms }) => ms))).toBeLessThanOrEqual(wedged);
}
