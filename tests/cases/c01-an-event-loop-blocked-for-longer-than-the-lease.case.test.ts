import { setTimeout as sleep } from "node:timers/promises";
import { startReceiver, until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase, type CaseOn } from "./lane/define-case.js";
import { boundOf } from "./load/bound-of.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readLeases } from "./load/read-leases.js";

/** Between a node's beginning in the log and the audit that counts as the last good one, and looks at the log. */
const slackMs = 1_000;

defineCase({ id: "C01", title: "an event loop that is blocked for longer than the lease keeps its run, or loses it once and writes nothing more", fullMinutes: 22, scaledSeconds: 25 }, async (on) => {
  await keepsIt(on);
  await losesIt(on);
});

/** The lease rests on a thread of its own: within what the work path may be silent, it never lapses. */
async function keepsIt(on: CaseOn): Promise<void> {
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({
    ...probeFleet, receivers: [receiver], env: on.pick({ MAINSTAY_LEASE_MS: "10000", MAINSTAY_WEDGED_AFTER_MS: "40000" }, { MAINSTAY_WEDGED_AFTER_MS: "10000" }),
  });
  for (let round = 1; round <= on.pick(20, 1); round += 1) {
    on.tell(`round ${String(round)}: the lease may not lapse`);
    const runId = await fleet.submit("probe-burn", { url: receiver.url, burnMs: on.pick(25_000, 2_500) });
    expect(await fleet.waitEnded([runId], 120_000)).toEqual(new Map([[runId, "completed"]]));
    expect(await readLeases(fleet, runId)).toHaveLength(1);
  }
  expect(fleet.begun().filter(({ nodeId }) => nodeId === "burn")).toHaveLength(on.pick(20, 1));
  await bothWork(fleet);
  expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
  expect(receiver.accepted().size).toBe(2 * on.pick(20, 1));
}

/** A work path that is silent for longer loses the run to a peer, within the bound of its class. */
async function losesIt(on: CaseOn): Promise<void> {
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ ...probeFleet, receivers: [receiver], env: on.pick({ MAINSTAY_LEASE_MS: "10000" }, {}) });
  const bound = await boundOf(fleet, "wedged");
  let worst = 0;
  for (let round = 1; round <= on.pick(20, 1); round += 1) {
    const runId = await fleet.submit("probe-burn", { url: receiver.url, burnMs: on.pick(25_000, 6_000), onlyFirst: true });
    expect(await fleet.waitEnded([runId], 120_000)).toEqual(new Map([[runId, "completed"]]));
    const log = await fleet.log(runId);
    const leases = await readLeases(fleet, runId);
    const began = log.find(({ type, nodeId }) => type === "node.started" && nodeId === "burn");
    expect(leases.map(({ lost }) => lost?.["x-trigger"])).toEqual(["loop_wedged", undefined]);
    const tookMs = (leases[1]?.from ?? Infinity) - (began?.at.getTime() ?? 0);
    worst = Math.max(worst, tookMs);
    on.tell(`round ${String(round)}: taken over ${String(tookMs)} ms after the block began`);
    expect(tookMs).toBeLessThanOrEqual(bound + slackMs);
    await sleep(on.pick(12_000, 3_000)); // the blocked process goes on meanwhile, and may write nothing
    const later = await fleet.log(runId);
    expect(later).toEqual(log);
    expect(log.slice(log.findIndex(({ type }) => type === "lease.lost") + 1).filter(({ fence }) => BigInt(fence) <= BigInt(leases[0]?.fence ?? 0))).toEqual([]);
  }
  on.measure("slowest takeover from a blocked loop", worst, "ms");
  await bothWork(fleet);
  await sleep(on.pick(60_000, 1_000));
  expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
  expect(receiver.accepted().size).toBe(2 * on.pick(20, 1));
}

/** The processes of the beginning live, and each of them takes runs. */
async function bothWork(fleet: Awaited<ReturnType<CaseOn["startFleet"]>>): Promise<void> {
  const pids = fleet.fleet.of("worker").map(({ pid }) => pid).sort();
  expect(pids).toHaveLength(2);
  await until("each worker to take runs again", async () => {
    const before = fleet.begun().length;
    const runIds = await Promise.all(Array.from({ length: 40 }, () => fleet.submit("probe-hold", { holdMs: 300 })));
    await fleet.waitEnded(runIds, 60_000);
    expect([...new Set(fleet.begun().slice(before).map(({ pid }) => pid))].sort()).toEqual(pids);
    return true;
  }, 60_000);
}
