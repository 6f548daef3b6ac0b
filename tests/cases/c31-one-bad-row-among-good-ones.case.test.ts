import { cutWhenSent } from "./doorbell/cut-when-sent.js";
import { startOwnRedis, startProxy, until } from "@mainstay/testing";
import { expect } from "vitest";
import { expectOnce } from "./doorbell/expect-once.js";
import { openInsertPath } from "./doorbell/open-insert-path.js";
import { readMetric } from "./doorbell/read-metric.js";
import { startDelays } from "./doorbell/start-delays.js";
import { startDoorbellFleet, type DoorbellFleet } from "./doorbell/start-doorbell-fleet.js";
import { defineCase } from "./lane/define-case.js";

defineCase({
  id: "C31", title: "a row that cannot be published holds up nobody behind it and is put aside with its reason after five tries",
  fullMinutes: 3, scaledSeconds: 40,
}, async (on) => {
  const redis = await startOwnRedis();
  const proxy = await startProxy(redis.url);
  on.defer(async () => { await proxy.stop(); await redis.stop(); });
  const fleet = await startDoorbellFleet(on, { broker: { url: proxy.through(redis.url) } });
  const relays = fleet.fleet.of("relay");
  const brokerUp = (): Promise<unknown> => until("the relay to call its broker up", async () => (await readMetric(relays, "mainstay_broker_up")) === 1);
  await brokerUp();
  await until("the workflow to be known", async () => (await fleet.sql("select from workflow_specs where workflow_id = 'doorbell-fast'")).length > 0);
  const count = on.pick(500, 100);
  const baseline = await load(fleet, count);
  on.measure("without a bad row, last start", Math.round(baseline), "ms");

  // its pool's name cannot be made a queue's: the client refuses it before anything is sent
  const unnameable = await badRow(fleet, { pool: "no:queue" });
  const behindOne = await load(fleet, count);
  on.measure("behind a row that the client refuses, last start", Math.round(behindOne), "ms");
  // its own pool, among the good ones: whatever names it breaks the connection
  const breaking = await badRow(fleet, { pool: "default", insertOnly: (id) => { proxy.inspect(cutWhenSent(id)); } });
  await brokerUp();
  const behindTwo = await load(fleet, count);
  on.measure("behind a row that breaks the connection, last start", Math.round(behindTwo), "ms");
  const cycleMs = Number(fleet.env["MAINSTAY_RELAY_POLL_MS"] ?? 1_000);
  expect(behindOne).toBeLessThanOrEqual(baseline + cycleMs);
  expect(behindTwo).toBeLessThanOrEqual(baseline + cycleMs);

  for (const id of [unnameable, breaking]) {
    const letter = await until("the bad row to be isolated", async () => (await fleet.sql<{ reason: string; body: string; state: string; pool: string }>(
      "select reason, body, state, pool from message_dead_letters where named_run = $1", [id]))[0], 40_000);
    on.tell(`isolated: ${JSON.stringify(letter)}`);
    expect(letter).toMatchObject({ reason: "unpublishable", state: "open" });
    expect(letter.body).not.toBe("");
    expect(await fleet.sql("select from ops_events where type = 'message_dead_letter.opened' and subject = $1", [id])).toHaveLength(1);
    expect(await fleet.sql("select from outbox where run_id = $1", [id])).toEqual([]);
    const told = relays.flatMap((relay) => relay.lines().filter(({ event }) => event?.["msg"] === "outbox row isolated" && event["runId"] === id));
    expect(told).toHaveLength(1);
    expect(told[0]?.event).toMatchObject({ level: "error", tries: 5 });
  }
  expect(await readMetric(relays, "mainstay_message_dead_letters_opened_total", ['reason="unpublishable"'])).toBe(2);
  const lines = relays.flatMap((relay) => relay.lines().filter(({ event }) => event?.["msg"] === "tickets not published"));
  on.measure("lines about refused publications", lines.length);
  expect(lines.length).toBeLessThanOrEqual(40); // five tries each, and the search for the one among its neighbours
  expect(fleet.fleet.deaths()).toEqual({});
});

/** Submits so many runs at once and answers when the last one started, in milliseconds since its acceptance. */
async function load(fleet: DoorbellFleet, count: number): Promise<number> {
  const runIds = await Promise.all(Array.from({ length: count }, () => fleet.submit("doorbell-fast", {})));
  await expectOnce(fleet, runIds);
  return Math.max(...await startDelays(fleet, runIds));
}

/** A row at the head of the outbox, due for long, whose run nobody serves, so that it goes on waiting. */
async function badRow(fleet: DoorbellFleet, { pool, insertOnly = () => undefined }: { pool: string; insertOnly?: (id: string) => void }): Promise<string> {
  const session = await openInsertPath(fleet.databaseUrl, { workflowId: "doorbell-fast", dispatchBoundMs: 60_000, change: { pool, requires: "nobody/serves" } });
  const id = await session.insert();
  insertOnly(id);
  await session.commit();
  await session.close();
  return id;
}
