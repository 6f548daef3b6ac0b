import { startReceiver, until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readCharges } from "./load/read-charges.js";

defineCase({ id: "C09", title: "starting and stopping many processes takes no run from a healthy worker", fullMinutes: 6, scaledSeconds: 25 }, async (on) => {
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  // the product's own times at either scale: on a machine that starves, a work path silent for the scaled 2 s is truly not healthy
  const fleet = await on.startFleet({ ...probeFleet, receivers: [receiver], times: "default" });
  const count = 20;
  const rounds = on.pick(5, 1);
  for (let round = 1; round <= rounds; round += 1) {
    const before = fleet.begun().length;
    const runIds = await Promise.all(Array.from({ length: count }, () => fleet.submit("probe-order", { url: receiver.url, beforeMs: on.pick(60_000, 10_000) })));
    await until("every run to be executed", () => fleet.begun().length - before === count);
    const added = await Promise.all([...Array.from({ length: on.pick(10, 3) }, () => fleet.fleet.add("worker")), fleet.fleet.add("supervisor")]);
    on.tell(`round ${String(round)} of ${String(rounds)}: ${String(added.length)} more processes are ready`);
    await Promise.all(added.map((one) => one.kill("SIGTERM")));
    const ended = await fleet.waitEnded(runIds, on.pick(120_000, 60_000));
    expect([...ended.values()].filter((status) => status !== "completed")).toEqual([]);
    expect(await readCharges(fleet)).toMatchObject({ crashes: 0, losses: 0, reclaims: 0 });
  }
  on.measure("reclaims", 0);
  on.measure("peak of sessions", fleet.peakSessions());
  expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
  expect(receiver.accepted().size).toBe(rounds * count);
});
