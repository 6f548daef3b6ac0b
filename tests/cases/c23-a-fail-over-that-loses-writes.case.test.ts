import { startOwnRedis, startProxy, until } from "@mainstay/testing";
import { expect } from "vitest";
import { expectOnce } from "./doorbell/expect-once.js";
import { startDoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { boundOf } from "./load/bound-of.js";
import { defineCase } from "./lane/define-case.js";

defineCase({
  id: "C23", title: "runs whose tickets the promoted replica never knew start by sweep within the bound of class dispatched",
  fullMinutes: 2, scaledSeconds: 20,
}, async (on) => {
  const [primary, replica] = [await startOwnRedis(), await startOwnRedis()];
  on.defer(async () => { await replica.stop(); await primary.stop(); });
  const [name, replication] = [await startProxy(primary.url), await startProxy(primary.url)];
  on.defer(async () => { await name.stop(); await replication.stop(); });
  await replica.ask((session) => session.replicaof("127.0.0.1", replication.port));
  await until("the replica to follow", async () => (await replica.ask((session) => session.info("replication"))).includes("master_link_status:up"));
  const [total, picked] = on.pick([100, 10], [30, 3]);
  const fleet = await startDoorbellFleet(on, { broker: { url: name.through(primary.url) }, workers: 1, env: { MAINSTAY_SLOTS: String(picked) } });
  await until("the relay to have published", async () => {
    const probe = await fleet.order("doorbell-order");
    await fleet.waitEnded([probe]);
    return (await replica.ask((session) => session.keys("{mainstay}:*"))).length > 0;
  });

  replication.blackHole(); // from here on the replica hears nothing
  const runIds = await Promise.all(Array.from({ length: total }, () => fleet.order("doorbell-order", { holdMs: on.pick(8_000, 4_000) })));
  await until("some to be picked up and the rest to be announced", async () => {
    const [row] = await fleet.sql<{ held: number; rows: number }>("select (select count(*) from runs where owner is not null)::int as held, (select count(*) from outbox)::int as rows");
    return row?.held === picked && row.rows === 0;
  });
  await replica.ask((session) => session.replicaof("NO", "ONE"));
  await primary.kill();
  name.leadTo(replica.url);
  name.reset();
  await fleet.fleet.add("worker", { env: { MAINSTAY_SLOTS: String(total) } }); // room for all that wait
  const [{ ready } = { ready: new Date() }] = await fleet.sql<{ ready: Date }>("select now() as ready");
  await expectOnce(fleet, runIds);
  const late = await fleet.sql<{ ms: number }>(
    `select (extract(epoch from max(at) - $1::timestamptz) * 1000)::float8 as ms from run_events where type = 'run.started'`, [ready]);
  const bound = await boundOf(fleet, "dispatched");
  on.measure("last run started", Math.round(late[0]?.ms ?? Infinity), `ms after there was room; the bound is ${bound} ms`);
  expect(late[0]?.ms).toBeLessThanOrEqual(bound);
  expect(fleet.fleet.deaths()).toEqual({});
});
