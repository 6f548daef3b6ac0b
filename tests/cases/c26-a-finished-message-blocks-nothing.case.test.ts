import { startOwnRedis, until } from "@mainstay/testing";
import { expect } from "vitest";
import { startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { defineCase } from "./lane/define-case.js";

const queue = "{mainstay}:default";

defineCase({
  id: "C26", title: "messages kept on the broker after their end block no later ticket of the same run",
  fullMinutes: 2, scaledSeconds: 25,
}, async (on) => {
  const redis = await startOwnRedis();
  on.defer(() => redis.stop());
  const fleet = await startDoorbellFleet(on, { broker: { url: redis.url }, env: { CASE_RETRY_BASE_MS: "3000" } });
  /** Puts every message that ever was back among the finished ones, as a broker that keeps them would have them. */
  const keepAll = (): Promise<number> => redis.ask(async (session) => {
    const last = Number((await session.get(`${queue}:id`)) ?? 0);
    for (let id = 1; id <= last; id++) {
      if ((await session.exists(`${queue}:${id}`)) > 0) continue;
      await session.hset(`${queue}:${id}`, { name: "ticket", data: JSON.stringify({ runs: known }), opts: "{}", finishedOn: String(Date.now()), returnvalue: "\"\"" });
      await session.zadd(`${queue}:completed`, Date.now(), String(id));
    }
    return last;
  });
  let known: string[] = [];
  const since = async (runId: string, type: string, from: Date): Promise<number> => {
    const found = await until(`${type} of ${runId}`, async () => (await fleet.log(runId)).find((event) => event.type === type && event.at > from), 30_000);
    return found.at.getTime() - from.getTime();
  };

  for (let round = 0; round < on.pick(10, 2); round++) {
    const retried = await fleet.order("doorbell-retried");
    const held = await fleet.order("doorbell-order", { holdMs: 60_000 });
    known = [retried, held].map((id) => id.slice(id.lastIndexOf("/") + 1));
    await until("both dispatches to be over", async () => fleet.begun().filter(({ runId }) => runId === retried || runId === held).length >= 2);
    expect(await keepAll()).toBeGreaterThan(0);

    const retry = (await fleet.log(retried)).find(({ type }) => type === "node.retried");
    const due = (await fleet.sql<{ due: Date }>("select coalesce(due_at, now()) as due from runs where id = $1", [known[0]]))[0]?.due ?? new Date();
    expect(retry).toBeDefined();
    const retryMs = await since(retried, "node.started", new Date(due.getTime() - 1));
    on.measure(`retry ${round + 1} executed`, retryMs, "ms after it was due");
    expect(retryMs).toBeLessThanOrEqual(5_000);

    const holder = fleet.begun().find(({ runId }) => runId === held);
    const victim = fleet.fleet.of("worker").find(({ pid }) => pid === holder?.pid);
    const killedAt = new Date();
    await victim?.kill("SIGKILL");
    const reclaimMs = await since(held, "node.started", killedAt);
    on.measure(`reclaim ${round + 1} executed`, reclaimMs, "ms after the kill");
    expect(reclaimMs).toBeLessThanOrEqual(5_000);
    await fetch(`${fleet.apiUrl()}/runs/${held.replace("/", "~2F")}/cancel`, {
      method: "POST", body: "{}", headers: { authorization: `Bearer ${fleet.key}`, "content-type": "application/json", "idempotency-key": `cancel-${held.slice(-36)}` },
    });
    expect((await fleet.waitEnded([retried, held])).get(retried)).toBe("completed");
    await fleet.fleet.add("worker");
  }

  // what stands on the broker bears numbers of the broker's own, and options without a name
  const names = await redis.ask(async (session) => {
    const ids = (await session.keys(`${queue}:*`)).map((key) => key.slice(queue.length + 1)).filter((id) => !["id", "meta", "events", "completed", "active", "wait", "stalled", "stalled-check", "marker", "delayed", "prioritized", "failed", "pc", "limiter", "paused"].includes(id) && !id.endsWith(":lock"));
    return ids.filter((id) => !/^\d+$/.test(id));
  });
  expect(names).toEqual([]);
  on.notRun("replay of the run", "replay");
});
