import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChaosFleet } from "./start-chaos-fleet.js";

/** A load of orders on its way. */
export type Load = Readonly<{
  /** Accepted so far: run id → business key. */
  accepted: ReadonlyMap<string, string>;
  /** Settles when all have been accepted. */
  done: Promise<ReadonlyMap<string, string>>;
}>;

/** Submits `count` orders spread evenly over `overMs`; `input` is laid over each. */
export function submitOrders(
  chaos: ChaosFleet,
  { count, overMs, input = () => ({}) }: { count: number; overMs: number; input?: (index: number) => Record<string, unknown> },
): Load {
  const accepted = new Map<string, string>();
  const submitAll = async (): Promise<ReadonlyMap<string, string>> => {
    await Promise.all(Array.from({ length: count }, async (_, index) => {
      await sleep((index * overMs) / count);
      const businessKey = randomUUID();
      accepted.set(await chaos.submit("chaos-order", { url: chaos.receiver.url, businessKey, ...input(index) }), businessKey);
    }));
    return accepted;
  };
  return { accepted, done: submitAll() };
}
