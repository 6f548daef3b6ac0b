import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { entryOf, type FleetProcess } from "@mainstay/fleet";
import { createClient } from "@mainstay/sdk";
import { startOwnRedis, startProxy, until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase, type CaseFleet } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";

/** One way through the slow link to the database, for every statement of the worker. */
const lateMs = 300;
/** A claim that had left when the signal was heard reaches the database within so long. */
const underwayMs = 100;

defineCase({ id: "C17", title: "a worker that is told to end claims nothing more, on no path, and leaves no lease", fullMinutes: 4, scaledSeconds: 45 }, async (on) => {
  const redis = await startOwnRedis();
  on.defer(() => redis.stop());
  const drainMs = on.pick(25_000, 3_000);
  const fleet = await on.startFleet({ ...probeFleet, workers: 0, broker: { url: redis.url } });
  const proxy = await startProxy(fleet.databaseUrl);
  on.defer(() => proxy.stop());
  const far = { DATABASE_URL: proxy.through(fleet.databaseUrl), DATABASE_DIRECT_URL: proxy.through(fleet.databaseUrl), MAINSTAY_SLOTS: "20" };
  const count = on.pick(1_000, 200);
  const submitted: string[] = [];
  const fill = async (): Promise<void> => {
    for (let done = 0; done < count; done += 25) {
      submitted.push(...await Promise.all(Array.from({ length: 25 }, (_, index) =>
        index % 5 === 0 ? fleet.submit("probe-park", { holdMs: 50, parkMs: 1_500 }) : fleet.submit("probe-hold", { holdMs: 100 }))));
    }
  };
  const inFlow = (worker: FleetProcess): Promise<boolean> => until("the worker to be in full flow", () => fleet.begun().filter(({ pid }) => pid === worker.pid).length >= 20);

  await (await fleet.fleet.add("worker")).kill("SIGTERM"); // it has registered the workflows
  await fill();
  const slow = await fleet.fleet.add("worker", { env: far });
  await inFlow(slow);
  proxy.delay(lateMs);
  await sleep(on.pick(1_000, 400));
  await endOne(slow, "with a slow database");
  proxy.delay(0);

  const hurried = await fleet.fleet.add("worker", { env: { MAINSTAY_SLOTS: "20" } });
  const long = await fleet.submit("probe-hold", { holdMs: drainMs * 10 });
  await until("the long node to begin", () => fleet.begun().some(({ runId }) => runId === long));
  const hurry = endOne(hurried, "told twice");
  await sleep(1_000);
  const second = Date.now();
  hurried.send("SIGTERM");
  await hurry;
  on.measure("exit after the second signal", Date.now() - second, "ms");
  expect(Date.now() - second).toBeLessThan(Math.min(drainMs, 3_000));

  redis.pause();
  const brokerless = await fleet.fleet.add("worker", { env: { MAINSTAY_SLOTS: "20" } });
  await fill();
  await inFlow(brokerless);
  await endOne(brokerless, "while Redis is away");
  redis.resume();

  await startsAndEnds(fleet);

  const last = await fleet.fleet.add("worker");
  await createClient({ url: fleet.apiUrl(), key: fleet.key }).runs.cancel(long);
  const ended = await fleet.waitEnded(submitted, on.pick(300_000, 60_000));
  expect([...ended.values()].filter((status) => status !== "completed")).toEqual([]);
  expect(last.exit()).toBeUndefined();

  /** Tells it to end, and holds what it did since against what it may do. */
  async function endOne(worker: FleetProcess, how: string): Promise<void> {
    const asked = Date.now();
    const exit = await worker.kill("SIGTERM");
    const tookMs = Date.now() - asked;
    on.tell(`${how}: ended after ${String(tookMs)} ms`);
    expect(exit).toEqual({ code: 0, signal: null });
    expect(tookMs).toBeLessThanOrEqual(drainMs + 3_000);
    const [row] = await fleet.sql<{ last: number; claims: number }>(
      `select coalesce(max(extract(epoch from at) * 1000), 0)::float8 as last, count(*)::int as claims from run_events where type = 'lease.acquired' and payload->>'instanceId' = $1`, [worker.incarnation]);
    const heard = Date.parse(String(worker.lines().find(({ event }) => event?.["msg"] === "process stopping")?.event?.["time"]));
    const lateClaimMs = (row?.last ?? 0) - heard;
    on.measure(`last claim ${how}, after it heard the signal`, Math.round(lateClaimMs), "ms");
    expect(row?.claims).toBeGreaterThan(0);
    expect(lateClaimMs).toBeLessThanOrEqual(how === "with a slow database" ? lateMs + underwayMs : underwayMs);
    expect(await fleet.sql("select id from runs where owner = $1", [worker.incarnation])).toEqual([]);
  }
});

/** SIGTERM at ten instants of a start: the process ends at once, and holds nothing. */
async function startsAndEnds(fleet: CaseFleet): Promise<void> {
  for (let after = 50; after <= 500; after += 50) {
    const child = spawn(process.execPath, [entryOf("worker")], { env: { ...fleet.env, MAINSTAY_PORT: "0" }, stdio: "ignore" });
    const exited = once(child, "exit");
    await sleep(after);
    const asked = Date.now();
    child.kill("SIGTERM");
    await exited;
    expect(Date.now() - asked).toBeLessThanOrEqual(Number(fleet.env["MAINSTAY_DRAIN_MS"] ?? 25_000) + 3_000);
  }
  await until("no run to be held by those who ended in their start", async () =>
    (await fleet.sql("select id from runs where owner is not null")).length === 0, 20_000);
}
