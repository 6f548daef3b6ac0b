import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { startSlotFleet, type Supervisor } from "./lanes/start-slot-fleet.js";
import { watchLanes } from "./lanes/watch-lanes.js";

type Fault = "frozen" | "refused" | "black-holed";

/** What a returned holder may still do, and how long it is watched after that. */
const stopsWithinMs = 1_000;
const watchedMs = 1_000;

defineCase({ id: "C49", title: "a lane whose holder is frozen or cut off goes on elsewhere, and the holder that comes back has stopped", fullMinutes: 26, scaledSeconds: 25 }, async (on) => {
  const slotMs = on.pick(60_000, 6_000);
  const leaseMs = 4 * on.pick(3_000, 1_000); // a lane's
  const [beforeMs, afterMs] = on.pick([3_000, 10_000], [1_000, 500]);
  const faults = on.pick<readonly Fault[]>([...Array.from({ length: 20 }, () => "frozen" as const), "refused", "black-holed", "refused", "black-holed"], ["frozen", "black-holed"]);
  const fleet = await startSlotFleet(on, { slotMs, leaseMs });
  let holder: Supervisor | undefined;
  holder = await fleet.layApart(holder);
  const others = watchLanes(fleet, ["deadlines", "positions", "release"]);
  on.defer(others.stop);

  let worstStopMs = 0;
  const missed: { slot: number; by: number }[] = [];
  for (const [round, fault] of faults.entries()) {
    holder = round === 0 ? holder : await fleet.layApart(holder);
    const { process, link } = holder;
    await fleet.awaitSlot(beforeMs);
    const runsOutAt = await fleet.leaseEnd();
    missed.push({ slot: (await fleet.currentSlot()) + 1, by: process.pid });
    order[fault](holder);
    await sleep(runsOutAt + afterMs - Date.now());
    const backAt = Date.now();
    if (fault === "frozen") process.thaw();
    else link.heal();
    await sleep(stopsWithinMs + watchedMs);
    // what is cut off can write down its steps; its work ends with its lease, long before it is back
    const from = fault === "frozen" ? backAt : runsOutAt;
    const steps = fleet.steps().filter(({ pid, at }) => pid === process.pid && at >= from).map(({ at }) => at - from);
    on.tell(`round ${String(round + 1)} of ${String(faults.length)}: ${process.name} was ${fault}; ${String(steps.length)} steps of it after that`);
    expect(steps.filter((ms) => ms > stopsWithinMs), `steps of a holder that was ${fault}`).toEqual([]);
    expect(fleet.steps().some(({ pid, at }) => pid !== process.pid && at > from), "another one works").toBe(true);
    worstStopMs = Math.max(worstStopMs, ...steps);
  }
  const lastSlot = await fleet.currentSlot();
  await until("the last slot's action", async () => (await fleet.actions()).some(({ slot }) => slot === lastSlot), leaseMs + 1_000);

  const actions = (await fleet.actions()).filter(({ slot }) => slot > fleet.firstSlot && slot <= lastSlot);
  expect(actions.map(({ slot }) => slot)).toEqual(Array.from({ length: lastSlot - fleet.firstSlot }, (_, index) => fleet.firstSlot + 1 + index));
  const worstGapMs = Math.max(...actions.map(({ lateMs }) => lateMs));
  on.measure("slots", actions.length);
  on.measure("latest action of a slot", worstGapMs, "ms");
  on.measure("last step of a holder after its return or the end of its lease", worstStopMs, "ms");
  on.measure("oldest last success of another lane", others.oldestMs(), "ms");
  expect(worstGapMs).toBeLessThanOrEqual(leaseMs + 1_000);
  expect(missed.map(({ slot, by }) => actions.find((one) => one.slot === slot)?.pid === by)).toEqual(faults.map(() => false)); // another one acted
  expect(others.moves()).toEqual([]); // they stayed where they were, and worked
  expect(others.oldestMs()).toBeLessThanOrEqual(3 * 2_000);
  expect(fleet.fleet.deaths()).toEqual({});
});

const order: Readonly<Record<Fault, (holder: Supervisor) => void>> = {
  frozen: ({ process }) => { process.freeze(); },
  refused: ({ link }) => { link.refuse(); },
  "black-holed": ({ link }) => { link.blackHole(); },
};
