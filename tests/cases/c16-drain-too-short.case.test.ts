import { fileURLToPath } from "node:url";
import { createClient } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { holderOf } from "./load/holder-of.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readLeases } from "./load/read-leases.js";

defineCase({ id: "C16", title: "what outlasts a drain is released at its end, not when the lease is over", fullMinutes: 2, scaledSeconds: 15 }, async (on) => {
  const drainMs = on.pick(5_000, 1_500);
  const fleet = await on.startFleet({
    ...probeFleet, workers: 1, env: { MAINSTAY_LEASE_MS: "300000", MAINSTAY_DRAIN_MS: String(drainMs), MAINSTAY_POLICY_FILE: fileURLToPath(new URL("./load/late-stall.yaml", import.meta.url)) },
  });
  const long = await fleet.submit("probe-hold", { holdMs: 600_000 });
  await until("the long node to begin", () => fleet.begun().length === 1);
  const holder = await holderOf(fleet, long);
  const thrown = await fleet.submit("probe-throw", { holdMs: drainMs - on.pick(1_000, 500) });
  await until("the throwing node to begin", () => fleet.begun().some(({ nodeId }) => nodeId === "fail"));
  const peer = await fleet.fleet.add("worker");

  const asked = Date.now();
  const exiting = holder.kill("SIGTERM");
  const exited = exiting.then(() => Date.now() - asked);
  const resumed = await until("the peer to execute the long node", () => fleet.begun().find(({ runId, pid }) => runId === long && pid === peer.pid), drainMs + 30_000);
  const resumedMs = Date.now() - asked - drainMs;
  const exitMs = await exited;
  on.measure("peer resumes after the drain limit", resumedMs / 1_000, "s");
  on.measure("exit after SIGTERM", exitMs / 1_000, "s");
  expect(resumed.attempt).toBe(1); // counted from 0: its second execution
  expect(resumedMs).toBeLessThanOrEqual(5_000);
  expect(exitMs).toBeLessThanOrEqual(drainMs + 3_000);
  expect(await exiting).toEqual({ code: 0, signal: null });

  expect(await fleet.waitEnded([thrown], 60_000)).toEqual(new Map([[thrown, "failed"]]));
  const [first] = await readLeases(fleet, thrown);
  expect(first?.incarnation).toBe(holder.incarnation);
  // the thrown error is a settled attempt of the one who was told to end, and nobody else ever had the run
  const log = await fleet.log(thrown);
  expect(log.filter(({ type, fence }) => type === "node.failed" && fence === first?.fence)).toHaveLength(1);
  expect(log.filter(({ type }) => type === "lease.acquired" || type === "node.started")).toHaveLength(2);
  expect(await fleet.sql("select attempts, disposition from dead_letters")).toMatchObject([{ attempts: 1 }]);
  const [row] = await fleet.sql<{ crashes: number; losses: number }>("select sum(crashes)::int as crashes, sum(losses)::int as losses from runs");
  expect(row).toEqual({ crashes: 0, losses: 0 });
  expect((await readLeases(fleet, long))[0]?.lost?.["x-trigger"]).toBe("handed_back");
  expect(await fleet.sql("select id from runs where owner = $1", [holder.incarnation])).toEqual([]);
  await createClient({ url: fleet.apiUrl(), key: fleet.key }).runs.cancel(long); // nobody waits ten minutes for the peer
  expect(await fleet.waitEnded([long], 30_000)).toEqual(new Map([[long, "cancelled"]]));
});
