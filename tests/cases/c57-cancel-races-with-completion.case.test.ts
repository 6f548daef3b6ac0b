import { setTimeout as sleep } from "node:timers/promises";
import { ClientError, createClient } from "@mainstay/sdk";
import { startReceiver } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { wireFleet } from "./load/wire-fleet.js";

/** Runs whose instants lie in the future together: fewer than the fleet's slots, so that each is held when its instant comes. */
const together = 40;

defineCase({ id: "C57", title: "a cancel that races with the end is answered as the run ended", fullMinutes: 4, scaledSeconds: 15 }, async (on) => {
  const fleet = await on.startFleet({ ...wireFleet, api: 2 });
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const clients = fleet.fleet.of("api").map(({ url }) => createClient({ url, key: fleet.key }));
  const count = on.pick(1_000, 120);
  const answers = new Map<string, "cancelled" | "cancelling" | "terminal">();
  const snapshots = new Map<string, string>();
  for (let done = 0; done < count; done += together) {
    const at = Date.now() + 2_000;
    await Promise.all(Array.from({ length: together }, async (_, index) => {
      const client = clients[index % clients.length];
      if (client === undefined) return;
      const mine = at + index * 10;
      const { runId } = await client.runs.create("wire-until", { at: mine, url: receiver.url });
      await sleep(Math.max(0, mine - 30 + Math.random() * 60 - Date.now()));
      const answer = await client.runs.cancel(runId).then(({ status }) => status, (error: unknown) => {
        if (error instanceof ClientError && error.code === "run_terminal") return "terminal" as const;
        throw error;
      });
      answers.set(runId, answer);
      if (answer !== "cancelling") snapshots.set(runId, (await client.runs.get(runId)).status);
    }));
    on.tell(`${String(done + together)} of ${String(count)} runs`);
  }
  const ended = await fleet.waitEnded([...answers.keys()], 60_000);
  const counts = { completed: 0, cancelled: 0 };
  for (const [runId, answer] of answers) {
    const status = ended.get(runId);
    expect([runId, answer, status]).toEqual([runId, answer, answer === "terminal" ? "completed" : "cancelled"]);
    if (snapshots.has(runId)) expect(snapshots.get(runId)).toBe(status); // terminal when it was answered, and never another since
    counts[status as keyof typeof counts] += 1;
    const ends = (await fleet.log(runId)).filter(({ type }) => ["run.completed", "run.cancelled", "run.failed"].includes(type));
    expect(ends.map(({ type }) => type)).toEqual([`run.${String(status)}`]);
  }
  on.measure("completed", counts.completed);
  on.measure("cancelled", counts.cancelled);
  expect(counts.completed).toBeGreaterThan(0); // or nothing raced
  expect(counts.cancelled).toBeGreaterThan(0);
  expect(await fleet.sql("select r.id from runs r join effects e on e.run_id = r.id where e.launched_at > r.finished_at")).toEqual([]);
  const keys = receiver.ledger().map(({ key }) => key);
  expect(keys.length).toBe(new Set(keys).size);
});
