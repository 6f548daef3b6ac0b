import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedis, until } from "@mainstay/testing";
import { expect } from "vitest";
import { expectOnce } from "./doorbell/expect-once.js";
import { readMetric } from "./doorbell/read-metric.js";
import { startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { worstErrorRate } from "./doorbell/worst-error-rate.js";
import { defineCase } from "./lane/define-case.js";

/** Keeps the server busy for so many seconds; other clients are answered BUSY once it has run for 5 s, nothing before. */
const busyScript = "local from = redis.call('TIME')[1] while redis.call('TIME')[1] - from < tonumber(ARGV[1]) do end return 1";

defineCase({
  id: "C24", title: "a Redis that refuses writes, then is busy, delays no timer for long and costs no lease",
  fullMinutes: 5, scaledSeconds: 25,
}, async (on) => {
  const redis = await startOwnRedis();
  on.defer(() => redis.stop());
  const [refuseMs, busyMs] = on.pick([60_000, 20_000], [3_000, 2_000]);
  const fleet = await startDoorbellFleet(on, {
    broker: { url: redis.url }, ...(on.scale === "full" ? { env: { MAINSTAY_LEASE_MS: "10000", MAINSTAY_HEARTBEAT_MS: "1000" } } : {}),
  });
  const processes = [...fleet.fleet.of("relay"), ...fleet.fleet.of("worker")];
  await until("both to call the broker up", async () => (await readMetric(processes, "mainstay_broker_up")) === processes.length);
  const delayed = await Promise.all(Array.from({ length: on.pick(50, 10) }, (_, at) =>
    fleet.order("doorbell-delayed", { delayMs: 2_000 + Math.round((at * (refuseMs + busyMs - 2_000)) / on.pick(50, 10)) })));
  const long = await Promise.all(Array.from({ length: on.pick(10, 3) }, () => fleet.order("doorbell-order", { holdMs: refuseMs + busyMs + 2_000 })));
  await until("the long ones to run and the others to wait", async () => {
    const [row] = await fleet.sql<{ held: number; timers: number }>("select count(*) filter (where owner is not null)::int as held, count(*) filter (where waiting_on = 'timer')::int as timers from runs");
    return row?.held === long.length && row.timers === delayed.length;
  });

  const since = Date.now();
  await redis.ask((session) => session.config("SET", "min-replicas-to-write", "1"));
  await sleep(refuseMs); // the fault's own length
  expect(await readMetric(processes, "mainstay_broker_errors_total", ['reason="no_replicas"'])).toBeGreaterThan(0);
  await redis.ask((session) => session.config("SET", "min-replicas-to-write", "0"));
  on.tell("writes are taken again; now a script that blocks");
  await redis.ask((session) => session.eval(busyScript, 0, String(Math.ceil(busyMs / 1_000))));
  const over = Date.now();
  await until("each delayed run to have started", async () => fleet.begun().filter(({ nodeId }) => nodeId === "due").length >= delayed.length, 30_000);
  const [last] = await fleet.sql<{ at: Date }>("select max(at) as at from run_events where type = 'node.started' and node_id = 'due'");
  on.measure("last delayed run started", (last?.at.getTime() ?? Infinity) - over, "ms after the window");
  await expectOnce(fleet, [...delayed, ...long]);

  const late = await fleet.sql<{ ms: number }>(
    `select (extract(epoch from d.at - s.at) * 1000 - (r.input->>'delayMs')::float8)::float8 as ms
     from runs r join run_events s on s.run_id = r.id and s.type = 'node.started' and s.node_id = 'wait'
     join run_events d on d.run_id = r.id and d.type = 'node.started' and d.node_id = 'due' order by 1 desc`);
  on.measure("latest delayed run", Math.round(late[0]?.ms ?? Infinity), "ms after it was due");
  // liveness does not depend on Redis: nothing was reclaimed
  expect(await fleet.sql("select run_id from run_events where type in ('lease.lost', 'workflow.restored')")).toEqual([]);
  expect(await fleet.sql("select id from incarnations where lapsed_at is not null")).toEqual([]);
  expect(fleet.fleet.deaths()).toEqual({});
  const { process, lines } = worstErrorRate(fleet.fleet.processes(), since);
  on.measure("most error lines", lines, `a second (${process})`);
  expect(lines, process).toBeLessThanOrEqual(10);
});
