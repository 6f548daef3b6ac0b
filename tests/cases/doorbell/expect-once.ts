import { expect } from "vitest";
import type { DoorbellFleet } from "./start-doorbell-fleet.js";

/**
 * Every run has completed, each attempt of a node was begun once by the code's own word, and outside each order was
 * accepted once and none twice.
 */
export async function expectOnce(fleet: DoorbellFleet, runIds: readonly string[], withinMs = 60_000): Promise<void> {
  const ended = await fleet.waitEnded(runIds, withinMs);
  expect([...ended].filter(([, status]) => status !== "completed")).toEqual([]);
  const times = new Map<string, number>();
  for (const { runId, nodeId, attempt } of fleet.begun()) {
    const name = `${runId} ${nodeId} ${attempt}`;
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  expect([...times].filter(([, count]) => count > 1)).toEqual([]);
  const accepted = fleet.receiver.accepted();
  expect([...accepted].filter(([, count]) => count > 1)).toEqual([]);
  const charged = await fleet.sql<{ key: string }>("select input->>'businessKey' as key from runs where status = 'completed' and input ? 'businessKey'");
  expect(charged.filter(({ key }) => accepted.get(key) !== 1)).toEqual([]);
}
