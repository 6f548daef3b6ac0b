import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedis, startProxy, until } from "@mainstay/testing";
import { expect } from "vitest";
import { expectOnce } from "./doorbell/expect-once.js";
import { readMetric } from "./doorbell/read-metric.js";
import { startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { defineCase } from "./lane/define-case.js";

defineCase({
  id: "C30", title: "a relay killed at any point between taking and deleting rows loses none and doubles no execution",
  fullMinutes: 14, scaledSeconds: 35,
}, async (on) => {
  const redis = await startOwnRedis();
  const proxy = await startProxy(redis.url);
  on.defer(async () => { await proxy.stop(); await redis.stop(); });
  const [kills, refusals] = on.pick([200, 50], [4, 4]);
  const fleet = await startDoorbellFleet(on, { broker: { url: proxy.through(redis.url) }, relay: 0, workers: 2 });
  const postgres = await startProxy(fleet.databaseUrl);
  on.defer(() => postgres.stop());
  for (const way of [proxy, postgres]) way.delay(3); // so that a kill finds the relay between confirmation and mark
  const addRelay = () => fleet.fleet.add("relay", { env: { DATABASE_URL: postgres.through(fleet.databaseUrl) } });
  await Promise.all([addRelay(), addRelay()]);
  const runIds: string[] = [];
  let arriving = true;
  const failures: unknown[] = [];
  const arrivals = (async () => {
    const under: Promise<unknown>[] = [];
    while (arriving) {
      under.push(fleet.submit("doorbell-fast", {}).then((id) => runIds.push(id), (error: unknown) => failures.push(error)));
      await sleep(on.pick(20, 50)); // 50 a second
    }
    await Promise.all(under);
  })();

  let stranded = 0;
  let rescuedMs = 0;
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(Math.random() * 300);
    const [victim] = fleet.fleet.of("relay").slice(kill % 2);
    if (victim === undefined) throw new Error("expected two relays");
    await victim.kill("SIGKILL");
    const from = performance.now();
    const left = await fleet.sql<{ seq: string }>("select seq::text from outbox where taken_by in (select id from incarnations where role = 'relay') and taken_by::text = $1", [victim.incarnation]);
    const next = addRelay();
    stranded += left.length;
    if (left.length > 0 && kill % on.pick(8, 2) === 0) { // with nobody else dying meanwhile
      await until("the other relay to publish what the dead one had taken", async () =>
        (await fleet.sql("select from outbox where seq = any($1::bigint[])", [left.map(({ seq }) => seq)])).length === 0, 10_000);
      rescuedMs = Math.max(rescuedMs, performance.now() - from);
    }
    await next;
    if (kill % 20 === 0) on.tell(`kill ${kill} of ${kills}: ${runIds.length} runs accepted, ${stranded} rows were in a dead relay's hands`);
  }
  on.measure("rows in a dead relay's hands", stranded);
  on.measure("longest until the other had published them", Math.round(rescuedMs), "ms");

  let shown = 0;
  for (let turn = 1; turn <= refusals; turn++) {
    await redis.ask((session) => session.config("SET", "min-replicas-to-write", "1"));
    const healAt = performance.now() + 200 + Math.random() * 1_500; // errors for so long
    let most = 0;
    while (performance.now() < healAt) {
      const [row] = await fleet.sql<{ n: number }>("select count(*)::int as n from outbox where tries > 0 and last_error like 'NOREPLICAS%'");
      most = Math.max(most, row?.n ?? 0);
      await sleep(25);
    }
    shown += most;
    await redis.ask((session) => session.config("SET", "min-replicas-to-write", "0"));
    await sleep(Math.random() * 1_500);
    if (turn % 10 === 0) on.tell(`refusal ${turn} of ${refusals}`);
  }
  arriving = false;
  await arrivals;
  expect(failures).toEqual([]);
  await expectOnce(fleet, runIds, 90_000);
  await until("the outbox to empty", async () => (await fleet.sql("select from outbox")).length === 0, 20_000);
  on.measure("rows seen with their attempts and the broker's refusal", shown);
  on.measure("publications refused", await readMetric(fleet.fleet.of("relay"), "mainstay_outbox_publish_failures_total"));
  on.measure("runs executed once", runIds.length);
  expect(shown).toBeGreaterThan(0);
  expect(await fleet.sql("select id from message_dead_letters")).toEqual([]);
  expect(fleet.begun().length).toBe(runIds.length);
  expect(fleet.fleet.deaths()).toEqual({ SIGKILL: kills });
});
