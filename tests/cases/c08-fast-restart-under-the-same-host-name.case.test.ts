import { fileURLToPath } from "node:url";
import { InstancesResponse } from "@mainstay/contract";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { boundOf } from "./load/bound-of.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readLeases } from "./load/read-leases.js";

const preload = fileURLToPath(new URL("./load/fixed-host.cjs", import.meta.url));
const onHost = (name: string) => ({ env: { NODE_OPTIONS: `--require ${preload}`, CASE_HOST: name } });

defineCase({ id: "C08", title: "a worker that is restarted at once under its host name is another one, and takes its own orphan over in time", fullMinutes: 4, scaledSeconds: 30 }, async (on) => {
  for (const deathWatch of ["on", "off"] as const) {
    const fleet = await on.startFleet({ ...probeFleet, workers: 0, env: { MAINSTAY_DEATH_WATCH: deathWatch, ...on.pick({ MAINSTAY_LEASE_MS: "15000" }, {}) } });
    const leased = await boundOf(fleet, "leased");
    let worker = await fleet.fleet.add("worker", onHost("worker-a"));
    for (const next of ["worker-a", "worker-b"]) {
      const runId = await fleet.submit("probe-hold", { holdMs: on.pick(5_000, 1_500) });
      await until("the node to begin", () => fleet.begun().some((one) => one.runId === runId));
      const dead = worker;
      const killed = Date.now();
      await dead.kill("SIGKILL");
      worker = await fleet.fleet.add("worker", onHost(next));
      const startedMs = Date.now() - killed;
      const lease = await until("the new worker to hold the run", async () => (await readLeases(fleet, runId))[1], 60_000);
      const how = `takeover by ${next}, death watch ${deathWatch}`;
      on.measure(how, lease.from - killed, "ms");
      on.tell(`${how}: ${String(lease.from - killed)} ms, ready again after ${String(startedMs)} ms`);
      expect(lease.incarnation).toBe(worker.incarnation);
      expect(lease.from - killed).toBeLessThanOrEqual(Math.max(leased, startedMs) + 1_000);
      expect(await fleet.waitEnded([runId], 60_000)).toEqual(new Map([[runId, "completed"]]));

      const seen = await workers();
      expect(seen.find(({ instanceId }) => instanceId === worker.incarnation)).toMatchObject({ host: next, state: "live" });
      if (deathWatch === "off") expect(seen.find(({ instanceId }) => instanceId === dead.incarnation)).toMatchObject({ host: "worker-a", state: "lapsed" });
      await until("the dead one to be shown as gone", async () => (await workers()).find(({ instanceId }) => instanceId === dead.incarnation)?.state === "lapsed", leased + 5_000);
    }
    const gone = (await workers()).filter(({ state }) => state === "lapsed").map(({ instanceId }) => instanceId);
    expect(gone).toHaveLength(2);
    // an hour later it is not shown any more, a day later it is not there any more: its instants are set back
    await fleet.sql("update incarnations set started_at = started_at - interval '25 h', beat_at = beat_at - interval '25 h', lapsed_at = lapsed_at - interval '25 h' where id = any($1::uuid[])", [gone]);
    expect((await workers()).map(({ instanceId }) => instanceId)).toEqual([worker.incarnation]);
    const [supervisor] = fleet.fleet.of("supervisor");
    await fleet.fleet.add("supervisor");
    await supervisor?.kill("SIGTERM"); // the other's first look at its lanes does them all
    await until("the dead ones to be removed", async () => (await fleet.sql("select id from incarnations where id = any($1::uuid[])", [gone])).length === 0, 90_000);

    async function workers(): Promise<InstancesResponse["instances"]> {
      const answer = await fetch(`${fleet.apiUrl()}/ops/v1/instances`, { headers: { authorization: `Bearer ${fleet.key}` } });
      return InstancesResponse.parse(await answer.json()).instances.filter(({ role }) => role === "worker");
    }
  }
});
