import { createHint, listOrphaned, takeOver, type Database, type ReleaseLimits } from "@mainstay/database";
import { countReleased, logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import type { Lane } from "../clock/lane.js";

const BATCH = 500;

/**
 * Takes over what a dead incarnation still owns. Who lapsed it does so at once; this is the fallback for a witness that
 * died in between, for rows that were locked, and for a claim that came in after the death.
 */
export function release({ db, limits, logger, metrics }: { db: Database; limits: ReleaseLimits; logger: Logger; metrics: Metrics }): Lane {
  const hint = createHint(db);
  return {
    name: "release", everyMs: 2_000, withinMs: 10_000,
    wanted: ({ orphans }) => orphans,
    tick: async ({ signal, itemFailed }) => {
      for (const incarnation of await listOrphaned(db)) {
        try {
          let full = true;
          while (full && !signal.aborted) {
            const released = await takeOver(db, { incarnations: [incarnation], limits, limit: BATCH });
            full = released.length === BATCH;
            if (released.length === 0) break;
            countReleased(metrics, released);
            logger.info(logEvents.runsTakenOver, { peer: incarnation, trigger: released[0]?.trigger, runs: released.length });
            hint("work");
            hint("dispatch");
            hint("log");
          }
        } catch (error) {
          itemFailed(incarnation, error);
        }
      }
    },
  };
}
