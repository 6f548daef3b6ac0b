import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { boundOf } from "./load/bound-of.js";
import { holderOf } from "./load/holder-of.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readLeases } from "./load/read-leases.js";

/** Between the kill as this process sees it and the bound's own beginning and end: a signal, a commit, a look at the log. */
const slackMs = 1_000;

defineCase({ id: "C10", title: "the fifth death of a run is taken over within the bound like the first", fullMinutes: 25, scaledSeconds: 45 }, async (on) => {
  const fleet = await on.startFleet({
    ...probeFleet, workers: 3, env: { MAINSTAY_CRASH_LIMIT: "10", ...on.pick({ MAINSTAY_LEASE_MS: "10000" }, {}) },
  });
  const [severed, leased] = [await boundOf(fleet, "severed"), await boundOf(fleet, "leased")];
  const runId = await fleet.submit("probe-long", { stepMs: on.pick(60_000, 700) });
  let checkpoints = 0;
  for (let death = 1; death <= 5; death += 1) {
    await until("the next checkpoint", async () => {
      const done = (await fleet.log(runId)).filter(({ type }) => type === "node.completed").length;
      if (done <= checkpoints) return undefined;
      return (checkpoints = done);
    }, on.pick(120_000, 60_000));
    const holder = await holderOf(fleet, runId);
    const before = (await readLeases(fleet, runId)).length;
    const killed = Date.now();
    await holder.kill("SIGKILL");
    await fleet.fleet.add("worker");
    const next = await until("a peer to take the run over", async () => (await readLeases(fleet, runId))[before], 60_000);
    const trigger = String((await readLeases(fleet, runId))[before - 1]?.lost?.["x-trigger"]);
    const [run] = await fleet.sql<{ crashes: number; stale: number }>("select crashes, stale_deaths as stale from runs");
    const bound = (trigger === "session_lost" ? severed : leased) + (run !== undefined && run.stale > 1 ? 1_000 * 2 ** run.crashes : 0);
    on.measure(`takeover ${String(death)} (${trigger})`, next.from - killed, "ms");
    on.tell(`death ${String(death)} of 5: taken over after ${String(next.from - killed)} ms by ${trigger}`);
    expect(next.from - killed).toBeLessThanOrEqual(bound + slackMs);
  }
  expect(await fleet.waitEnded([runId], on.pick(1_500_000, 60_000))).toEqual(new Map([[runId, "completed"]]));
  const log = await fleet.log(runId);
  expect(log.filter(({ type }) => type === "lease.acquired")).toHaveLength(6); // nothing but the five deaths took it
  const completed = log.filter(({ type }) => type === "node.completed").map(({ nodeId }) => nodeId);
  expect(completed).toEqual(Array.from({ length: 20 }, (_, index) => `n${String(index)}`));
  const executed = fleet.begun().map(({ nodeId }) => Number(nodeId.slice(1)));
  expect(executed).toEqual([...executed].sort((a, b) => a - b)); // a completed checkpoint is never gone back behind
  expect(executed.length).toBeLessThanOrEqual(25); // one more for each death, of the node that was under way
});
