import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@mainstay/sdk";
import { startOwnRedis, until } from "@mainstay/testing";
import { expect } from "vitest";
import { startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { defineCase } from "./lane/define-case.js";
import { openStream, type OpenStream } from "./load/open-stream.js";

defineCase({
  id: "C27", title: "events of the broker and wake-ups that are lost cost no reader an event, and nobody waits for ever",
  fullMinutes: 4, scaledSeconds: 30,
}, async (on) => {
  const redis = await startOwnRedis();
  on.defer(() => redis.stop());
  const fleet = await startDoorbellFleet(on, { broker: { url: redis.url } });
  const [total, followEvery, cutMs] = on.pick([5_000, 50, 60_000], [150, 5, 4_000]);
  const client = createClient({ url: fleet.apiUrl(), key: fleet.key });
  const streams = new Map<string, OpenStream>();
  const results: Promise<string>[] = [];
  const runIds: string[] = [];
  let going = true;

  // the broker's own stream of events is kept ten long, and the sessions on which apis are woken never live for long
  const trim = (async () => {
    while (going) {
      for (const key of await redis.ask((session) => session.keys("{mainstay}:*:events"))) await redis.ask((session) => session.xtrim(key, "MAXLEN", 10));
      await sleep(200);
    }
  })();
  const cuts = (async () => {
    await until("a tenth of the runs", () => runIds.length >= total / 10, 60_000);
    const from = Date.now();
    let ended = 0;
    while (Date.now() - from < cutMs) {
      const cut = await fleet.sql<{ pid: number }>("select pid, pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'mainstay api lifeline%'");
      ended += cut.length;
      await sleep(100);
    }
    return ended;
  })();

  const pauseMs = (cutMs * 1.2) / total;
  await Promise.all(Array.from({ length: total }, async (_, at) => {
    await sleep(at * pauseMs); // spread over the cut and a little more
    const followed = at % followEvery === 0;
    const runId = followed && at % 2 === 0 ? await fleet.order("doorbell-order", { holdMs: 1_500 }) : await fleet.submit("doorbell-fast", {});
    runIds.push(runId);
    if (!followed) return;
    streams.set(runId, openStream({ url: fleet.apiUrl(), key: fleet.key, runId }));
    results.push(client.runs.result(runId, { timeoutMs: 60_000 }).then(({ status }) => status));
  }));
  const cut = await cuts;
  expect(cut).toBeGreaterThan(0);
  on.measure("sessions of wake-ups cut", cut);
  const ended = await fleet.waitEnded(runIds, 60_000);
  expect([...ended].filter(([, status]) => status !== "completed")).toEqual([]);
  expect(await Promise.all(results)).toEqual(results.map(() => "completed"));
  const closings = await Promise.race([Promise.all([...streams.values()].map(({ closed }) => closed)), sleep(20_000).then(() => ["a stream is still open"])]);
  expect(closings.filter((how) => how !== "ended")).toEqual([]);
  going = false;
  await trim;
  for (const [runId, stream] of streams) {
    const log = await fleet.log(runId);
    expect(stream.frames().map(({ id, event }) => `${id} ${event}`), runId).toEqual(log.map(({ seq, type }) => `${seq} ${type}`));
  }
  on.measure("runs", runIds.length);
  on.measure("streams equal to the stored log", streams.size);
  on.notRun("webhooks for all runs", "webhooks");
  on.notRun("the console's counts", "console");
});
