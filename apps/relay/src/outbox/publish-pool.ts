import { setTimeout as pause } from "node:timers/promises";
import type { TicketPublisher } from "@mainstay/broker";
import type { OutboxRow } from "@mainstay/database";
import { shapeTickets } from "./shape-tickets.js";

/** What became of the rows of one pool. */
export type PoolResult = Readonly<{
  rung: readonly OutboxRow[];
  /** Refused alone, by a broker that was there before and after. */
  guilty: readonly (readonly [row: OutboxRow, reason: string])[];
  /** Not published because the broker is away, or for want of time; `reason` says which. */
  left: readonly OutboxRow[];
  reason: string;
  failures: readonly Error[];
}>;

/** A broker that refused a publication and is there again within this is not away. Milliseconds. */
const backWithinMs = 600;
/** The search for a guilty row ends after so long, well before another relay takes the rows for stale. Milliseconds. */
const searchMs = 3_000;

/**
 * Publishes the rows of one pool in one round trip. If it is refused and the broker is still there, the rows are
 * halved until the guilty one is alone, so that one bad row holds up its neighbours for some round trips and no more.
 */
export async function publishPool(
  rows: readonly OutboxRow[], { pool, publisher }: { pool: string; publisher: Pick<TicketPublisher, "publish" | "brokerUp"> },
): Promise<PoolResult> {
  const endAt = performance.now() + searchMs;
  const rung: OutboxRow[] = [];
  const guilty: [OutboxRow, string][] = [];
  const failures: Error[] = [];
  const parts: (readonly OutboxRow[])[] = [rows];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    try {
      await publisher.publish(pool, shapeTickets(part).flatMap(({ tickets }) => tickets));
      rung.push(...part);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      failures.push(error);
      const back = await isBack(publisher);
      if (back && part.length === 1) guilty.push([part[0] as OutboxRow, error.message]);
      else if (!back || performance.now() > endAt) {
        return { rung, guilty, left: [part, ...parts].flat(), reason: error.message, failures };
      } else {
        const half = Math.ceil(part.length / 2);
        parts.push(part.slice(half), part.slice(0, half));
      }
    }
  }
  return { rung, guilty, left: [], reason: "", failures };
}

async function isBack(publisher: Pick<TicketPublisher, "brokerUp">): Promise<boolean> {
  const until = performance.now() + backWithinMs;
  while (!publisher.brokerUp()) {
    if (performance.now() > until) return false;
    await pause(20);
  }
  return true;
}
