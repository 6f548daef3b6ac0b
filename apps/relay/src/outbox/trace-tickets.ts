import type { TicketPublisher } from "@mainstay/broker";
import { readTraceparents, type Queryable } from "@mainstay/database";
import type { Tracing } from "@mainstay/telemetry";

/** Most links on one span; a larger batch links to its first runs. */
const mostLinks = 128;

/** A publisher whose every batch has a span of its own that links to the runs it rings for. A span that cannot be made never holds a ticket back. */
export function traceTickets(publisher: TicketPublisher, { db, tracing }: { db: Queryable; tracing: Tracing }): TicketPublisher {
  return Object.freeze({
    ...publisher,
    publish: async (pool: string, tickets: readonly (readonly string[])[]) => {
      const runs = await readTraceparents(db, tickets.flat().slice(0, mostLinks)).catch(() => []);
      const span = tracing.publish({ pool, runs });
      try {
        await publisher.publish(pool, tickets);
        span.end();
      } catch (error) {
        span.end({ errorType: "publish_failed" });
        throw error;
      }
    },
  });
}
