import { setTimeout as sleep } from "node:timers/promises";
import { startProxy, startReceiver, until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase, type CaseOn } from "./lane/define-case.js";
import { holdStatement } from "./load/hold-statement.js";
import { holderOf } from "./load/holder-of.js";
import { probeFleet } from "./load/probe-fleet.js";

/** Within the time-out of a client's statement, and longer than a peer takes to notice a freed session and to claim. */
const lateMs = 1_800;

defineCase({ id: "C03", title: "a supervisor that acts on what it read before others handed the run over changes nothing", fullMinutes: 3, scaledSeconds: 25 }, async (on) => {
  await actsLate(on, { deathWatch: "on", statement: "runs.suspect", crashes: 0, rounds: on.pick(10, 2) });
  await actsLate(on, { deathWatch: "off", statement: "incarnations.lapse", crashes: 1, rounds: on.pick(10, 1) });
});

type Way = Readonly<{ deathWatch: "on" | "off"; statement: string; crashes: number; rounds: number }>;

/** Supervisor B decides what a death means for its runs, and its order arrives when the run goes on or has ended elsewhere. */
async function actsLate(on: CaseOn, { deathWatch, statement, crashes, rounds }: Way): Promise<void> {
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ ...probeFleet, receivers: [receiver], times: "default", env: { MAINSTAY_DEATH_WATCH: deathWatch } });
  const proxy = await startProxy(fleet.databaseUrl);
  on.defer(() => proxy.stop());
  // a short heartbeat: of those who watch the silence B is the first to act on it
  const env = { DATABASE_DIRECT_URL: proxy.through(fleet.databaseUrl), ...(deathWatch === "off" ? { MAINSTAY_HEARTBEAT_MS: "100" } : {}) };
  const b = await fleet.fleet.add("supervisor", { env });
  let late = 0;
  for (let round = 1; late < rounds && round <= rounds * 4; round += 1) {
    const ends = round % 2 === 1; // before B's order arrives; else while it executes
    const runId = await fleet.submit("probe-order", { url: receiver.url, beforeMs: 60_000, againMs: ends ? 300 : 4_000 });
    const owner = await holderOf(fleet, runId);
    await until("the node to begin", () => fleet.begun().some((one) => one.runId === runId));
    const hold = holdStatement(proxy, { names: [statement], lateMs });
    proxy.inspect(hold.rule);
    await until("supervisor B to be whole again", () => proxy.connections() >= 2);
    await sleep(1_500); // its heartbeat names whom it watches
    const killed = performance.now();
    await owner.kill("SIGKILL");
    await until("the run to be handed over", async () => (await fleet.log(runId)).some(({ type }) => type === "lease.lost"), 20_000);
    await until("a peer to hold the run or to have ended it", async () => (await fleet.log(runId)).filter(({ type }) => type === "lease.acquired").length >= 2);
    const inTime = performance.now() - killed;
    if (hold.held() !== undefined) {
      late += 1;
      on.tell(`death watch ${deathWatch}, ${String(late)} of ${String(rounds)}: handed over after ${String(Math.round(inTime))} ms, B's ${statement} is on its way`);
    }
    await sleep(lateMs + 500);
    proxy.inspect(undefined);
    proxy.delay(0);
    await fleet.fleet.add("worker");
    expect(await fleet.waitEnded([runId], 30_000)).toEqual(new Map([[runId, "completed"]]));
    const log = await fleet.log(runId);
    expect(log.filter(({ type }) => type === "lease.lost")).toHaveLength(1);
    expect(log.filter(({ type }) => type === "lease.acquired")).toHaveLength(2);
    expect(fleet.begun().filter((one) => one.runId === runId && one.nodeId === "before").length).toBeLessThanOrEqual(2);
    const [row] = await fleet.sql<{ crashes: number; losses: number }>("select crashes, losses from runs where id = $1", [runId.slice(runId.indexOf("/") + 1)]);
    expect(row).toEqual({ crashes, losses: 1 - crashes });
  }
  on.measure(`orders of B that came late (${statement})`, late);
  expect(late).toBe(rounds);
  expect(b.exit()).toBeUndefined();
  expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
}
