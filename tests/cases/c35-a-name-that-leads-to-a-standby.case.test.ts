import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase, startOwnPostgres, startProxy, startReceiver, until } from "@mainstay/testing";
import { expect } from "vitest";
import { startDelays } from "./doorbell/start-delays.js";
import { worstErrorRate } from "./doorbell/worst-error-rate.js";
import { defineCase, type CaseFleet } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readCharges } from "./load/read-charges.js";
import { slowRelay } from "./pooler/expect-smoke.js";
import { keepAsking } from "./standby/keep-asking.js";

defineCase({
  id: "C35", title: "a name that leads to a read-only standby until it is promoted costs refused writes and nothing else",
  fullMinutes: 3, scaledSeconds: 30,
}, async (on) => {
  const primary = await startOwnPostgres();
  on.defer(() => primary.stop());
  const database = await createTestDatabase({ serverUrl: primary.url });
  const standby = await primary.standby();
  on.defer(() => standby.stop());
  const name = await startProxy(primary.url);
  on.defer(name.stop);
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ ...probeFleet, databaseUrl: name.through(database.url), receivers: [receiver], env: slowRelay.env });

  const before = await Promise.all(Array.from({ length: on.pick(50, 10) }, () => fleet.submit("probe-order", { url: receiver.url })));
  await fleet.waitEnded(before);
  const usual = median(await probeDelays(fleet, 9));
  const away = on.pick(20_000, 12_000); // the api tries again for ten
  const held = await Promise.all(Array.from({ length: 10 }, () => fleet.submit("probe-order", { url: receiver.url, beforeMs: 5_000 })));
  await until("the runs to be held", () => new Set(fleet.begun().map(({ runId }) => runId)).size >= before.length + held.length);

  on.tell(`the name leads to the standby for ${String(away / 1_000)} s`);
  const since = Date.now();
  await primary.halt(); // it hands over all it has
  name.leadTo(standby.url);
  name.reset();
  const asking = keepAsking({ url: fleet.apiUrl(), key: fleet.key, runId: before[0] ?? "", everyMs: 50 });
  on.defer(asking.stop);
  await sleep(away);
  const promoted = performance.now();
  await standby.promote();
  const first = await fleet.submit("probe-order", { url: receiver.url }, { withinMs: 30_000 });
  await fleet.waitEnded([first], 30_000);
  const recoveredMs = performance.now() - promoted;
  const answers = await asking.stop();
  for (const runId of answers.accepted) fleet.accept(runId);
  on.measure("a run was accepted and ended after the promotion", recoveredMs, "ms");
  on.tell(`answers in the meantime: ${JSON.stringify(answers.writes)} to writes, ${JSON.stringify(answers.reads)} to reads`);
  expect(recoveredMs).toBeLessThanOrEqual(30_000);
  expect(Object.keys(answers.writes).filter((status) => !["202", "201", "503"].includes(status))).toEqual([]);
  expect(answers.writes["503"]).toBeGreaterThan(10);
  expect(Object.keys(answers.reads).filter((status) => !["200", "503"].includes(status))).toEqual([]);

  const runIds = [...before, ...held, first, ...answers.accepted];
  expect([...(await fleet.waitEnded(runIds, 60_000)).values()].filter((status) => status !== "completed")).toEqual([]);
  const backWithinMs = 60_000 - (performance.now() - promoted);
  const after = await until("runs to start as fast as before", async () => {
    const ms = median(await probeDelays(fleet, 9));
    return ms <= 3 * usual + 100 && { ms };
  }, backWithinMs);
  on.measure("median from acceptance to start before", usual, "ms");
  on.measure("the same afterwards", after.ms, "ms");
  expect(after.ms).toBeLessThan(slowRelay.polledMs / 2); // heard of, not polled
  const worst = worstErrorRate(fleet.fleet.processes(), since);
  on.measure(`most warnings and errors within a second (${worst.process})`, worst.lines);
  expect(worst.lines, worst.process).toBeLessThanOrEqual(10);
  expect(fleet.fleet.deaths()).toEqual({});
  // a write that could not be sent for so long is given up, and the run handed back by its own holder: no peer takes one over
  const lost = await fleet.sql<{ trigger: string; runs: number }>("select payload->>'x-trigger' as trigger, count(*)::int as runs from run_events where type = 'lease.lost' group by 1");
  on.measure("runs handed back by their holders", lost.find(({ trigger }) => trigger === "mislaid")?.runs ?? 0);
  expect(lost.filter(({ trigger }) => !["mislaid", "handed_back"].includes(trigger))).toEqual([]);
  expect(await readCharges(fleet)).toMatchObject({ crashes: 0 });
});

/** From acceptance to start, in milliseconds, of runs that come one after the other. */
async function probeDelays(fleet: CaseFleet, count: number): Promise<readonly number[]> {
  const runIds: string[] = [];
  for (let at = 0; at < count; at++) {
    runIds.push(await fleet.submit("probe-hold", { holdMs: 0 }));
    await fleet.waitEnded(runIds);
  }
  return startDelays(fleet, runIds);
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Infinity;
}
