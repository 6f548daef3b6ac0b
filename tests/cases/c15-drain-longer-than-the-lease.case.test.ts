import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readLeases } from "./load/read-leases.js";

defineCase({ id: "C15", title: "a drain longer than the lease lets the node finish where it is", fullMinutes: 1, scaledSeconds: 8 }, async (on) => {
  const fleet = await on.startFleet({
    ...probeFleet,
    env: on.pick({ MAINSTAY_LEASE_MS: "10000", MAINSTAY_DRAIN_MS: "60000" }, { MAINSTAY_DRAIN_MS: "6000" }),
  });
  const holdMs = on.pick(30_000, 3_000);
  const runId = await fleet.submit("probe-hold", { holdMs });
  await until("the node to begin", () => fleet.begun().length === 1);
  await sleep(on.pick(2_000, 200));
  const [lease] = await readLeases(fleet, runId);
  const holder = fleet.fleet.of("worker").find(({ incarnation }) => incarnation === lease?.incarnation);
  if (holder === undefined) throw new Error("no living worker holds the run");

  const asked = performance.now();
  const exit = await holder.kill("SIGTERM");
  const tookMs = performance.now() - asked;
  on.measure("exit after SIGTERM", tookMs / 1_000, "s");
  expect(exit).toEqual({ code: 0, signal: null });
  expect(tookMs).toBeGreaterThan(holdMs - on.pick(2_000, 200) - 500);
  expect(tookMs).toBeLessThan(holdMs - on.pick(2_000, 200) + 3_000);

  expect(await fleet.waitEnded([runId])).toEqual(new Map([[runId, "completed"]]));
  expect(await readLeases(fleet, runId)).toMatchObject([{ fence: lease?.fence, lostAt: undefined }]);
  expect(fleet.begun()).toHaveLength(1);
  const [row] = await fleet.sql<{ claims: number; crashes: number; hand_backs: number; losses: number }>("select claims, crashes, hand_backs, losses from runs");
  expect(row).toEqual({ claims: 1, crashes: 0, hand_backs: 0, losses: 0 });
});
