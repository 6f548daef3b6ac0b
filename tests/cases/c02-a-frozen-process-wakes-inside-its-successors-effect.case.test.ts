import { startReceiver, until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { holderOf } from "./load/holder-of.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readLeases } from "./load/read-leases.js";

defineCase({ id: "C02", title: "a frozen process that wakes inside its successor's effect changes nothing of the run", fullMinutes: 2, scaledSeconds: 12 }, async (on) => {
  const receiver = await startReceiver({ holdMs: on.pick(8_000, 3_000) });
  on.defer(() => receiver.stop());
  const heartbeatMs = on.pick(1_000, 250);
  const fleet = await on.startFleet({ ...probeFleet, receivers: [receiver], env: on.pick({ MAINSTAY_LEASE_MS: "10000" }, {}) });
  const runId = await fleet.submit("probe-order", { url: receiver.url, beforeMs: on.pick(5_000, 1_500) });
  const frozen = await holderOf(fleet, runId);
  await until("the node before the effect to begin", () => fleet.begun().length === 1);
  frozen.freeze();
  const first = (await readLeases(fleet, runId))[0];

  const successor = await until("a peer to hold the run", async () => (await readLeases(fleet, runId))[1], 60_000);
  await until("the successor's request at the receiver", () => receiver.open().length === 1);
  const expiry = async (): Promise<string | undefined> => (await fleet.sql<{ at: string }>("select beat_at::text as at from incarnations where id = $1", [first?.incarnation]))[0]?.at;
  const beat = await expiry();
  const woken = Date.now();
  frozen.thaw();
  await until("the woken process to say that its lease is lost", () => frozen.lines().some(({ event }) => event?.["msg"] === "heartbeat refused, holdings dropped"));
  const said = frozen.lines().find(({ event }) => event?.["msg"] === "heartbeat refused, holdings dropped")?.event?.["time"];
  const learnedMs = Date.parse(String(said)) - woken;
  on.measure("lease lost is logged after waking", learnedMs, "ms");
  if (on.scale === "full") expect(learnedMs).toBeLessThanOrEqual(heartbeatMs);

  expect(await fleet.waitEnded([runId], 60_000)).toEqual(new Map([[runId, "completed"]]));
  expect(await expiry()).toBe(beat);
  const log = await fleet.log(runId);
  const lost = log.findIndex(({ type }) => type === "lease.lost");
  expect(log.slice(lost + 1).filter(({ fence }) => BigInt(fence) <= BigInt(first?.fence ?? 0))).toEqual([]);
  expect((await readLeases(fleet, runId)).map(({ incarnation }) => incarnation)).toEqual([first?.incarnation, successor.incarnation]);
  expect(new Set(receiver.ledger().map(({ key }) => key)).size).toBe(1);
  expect([...receiver.accepted().values()]).toEqual([1]);
});
