import { createClient } from "@mainstay/sdk";
import { until, type Receiver } from "@mainstay/testing";
import { expect } from "vitest";
import { startDelays } from "../doorbell/start-delays.js";
import type { CaseFleet, CaseOn } from "../lane/define-case.js";
import { holderOf } from "../load/holder-of.js";
import { readLeases } from "../load/read-leases.js";

/** Everything that one does with runs, once: create, watch, cancel, pause and resume, fork, effects, the death of a worker. */
export async function expectSmoke(on: CaseOn, fleet: CaseFleet, receiver: Receiver): Promise<void> {
  const client = createClient({ url: fleet.apiUrl(), key: fleet.key });
  const typesOf = async (runId: string) => (await fleet.log(runId)).map(({ type }) => type);

  const runIds = await Promise.all(Array.from({ length: 20 }, () => fleet.submit("probe-order", { url: receiver.url })));
  expect(await fleet.waitEnded(runIds)).toEqual(new Map(runIds.map((id) => [id, "completed"])));
  const delays = await startDelays(fleet, runIds);
  on.measure("median from acceptance to start", delays[Math.floor(delays.length / 2)] ?? Infinity, "ms");
  expect(delays[Math.floor(delays.length / 2)]).toBeLessThan(slowRelay.polledMs / 2); // NOTIFY arrived

  const streamed = await fleet.submit("probe-park", { holdMs: 200, parkMs: 300 });
  const seen: string[] = [];
  for await (const { type } of client.runs.events(streamed)) seen.push(type);
  expect(seen).toEqual(await typesOf(streamed));
  expect(seen.at(-1)).toBe("run.completed");

  const cancelled = await fleet.submit("probe-hold", { holdMs: 60_000 });
  await holderOf(fleet, cancelled);
  await client.runs.cancel(cancelled);
  const paused = await fleet.submit("probe-order", { url: receiver.url, beforeMs: 1_000 });
  await until("its first node to begin", () => fleet.begun().some(({ runId }) => runId === paused));
  await client.runs.pause(paused);
  await until("the run to be paused", async () => (await typesOf(paused)).includes("run.paused"));
  await client.runs.resume(paused);
  const fork = await client.runs.fork(runIds[0] ?? "", { mode: "replay" });
  fleet.accept(fork.runId);
  expect(await fleet.waitEnded([cancelled, paused, fork.runId])).toEqual(new Map([[cancelled, "cancelled"], [paused, "completed"], [fork.runId, "completed"]]));
  expect(await typesOf(paused)).toEqual(expect.arrayContaining(["run.paused", "run.resumed"]));

  const orphan = await fleet.submit("probe-order", { url: receiver.url, beforeMs: 2_000 });
  const holder = await holderOf(fleet, orphan);
  await until("its first node to begin", () => fleet.begun().some(({ runId }) => runId === orphan));
  await holder.kill("SIGKILL");
  expect(await fleet.waitEnded([orphan])).toEqual(new Map([[orphan, "completed"]]));
  expect((await readLeases(fleet, orphan)).map(({ lost }) => lost?.["x-trigger"])).toEqual(["session_lost", undefined]); // by its lifeline
  await fleet.fleet.add("worker");

  const lanes = await fleet.sql<{ name: string }>("select l.name from lanes l join incarnations i on i.id = l.holder where l.until > now() and i.lapsed_at is null and i.ended_at is null");
  expect(lanes.length).toBeGreaterThanOrEqual(5);
}

/** Times at which a run that nobody hears of starts late enough to be told from one that is announced. */
export const slowRelay = { polledMs: 4_000, env: { MAINSTAY_RELAY_POLL_MS: "4000", MAINSTAY_DISPATCH_BOUND_MS: "6000" } } as const;
