import { capRuns, createHint, enforceDeadlines, enforceStops, type Database, type Released, type ReleaseLimits } from "@mainstay/database";
import { countReleased, logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import type { Lane, Tick } from "../clock/lane.js";

const BATCH = 100;
const CAP_EVERY_MS = 60_000;
const CAP_PAGE = 2_000;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** How long a run without a deadline of its own may take. */
export const RUN_CAP_MS = 24 * 60 * 60 * 1_000;

/** Ends runs past their deadline and stops that nobody honoured; once a minute gives the fleet's cap to runs without a deadline. */
export function deadlines({ db, limits, cancelGraceMs, logger, metrics }: { db: Database; limits: ReleaseLimits; cancelGraceMs: number; logger: Logger; metrics: Metrics }): Lane {
  const hint = createHint(db);
  let capMs = 0;
  let capAfter = FIRST_ID;

  /** Goes on where the last one ended: what lies before has a deadline or has ended. */
  const cap = async (signal: AbortSignal): Promise<void> => {
    if (performance.now() < capMs) return;
    for (let more = true; more && !signal.aborted;) {
      const page = await capRuns(db, { after: capAfter, capMs: RUN_CAP_MS, limit: CAP_PAGE });
      capAfter = page.last ?? capAfter;
      more = page.seen === CAP_PAGE;
      if (!more) capMs = performance.now() + CAP_EVERY_MS;
    }
  };
  const drain = async (what: string, { signal, itemFailed }: Tick, end: () => Promise<Released[]>): Promise<void> => {
    try {
      for (let full = true; full && !signal.aborted;) {
        const ended = await end();
        full = ended.length === BATCH;
        if (ended.length === 0) return;
        hint("log");
        countReleased(metrics, ended);
        for (const { id, status, trigger } of ended) logger.info(logEvents.runEnded, { runId: id, status, trigger });
      }
    } catch (error) {
      itemFailed(what, error);
    }
  };
  return {
    name: "deadlines", everyMs: 2_000, withinMs: 10_000,
    wanted: ({ deadlines: passed, stops }) => passed || stops || performance.now() >= capMs,
    tick: async (tick) => {
      await drain("stops", tick, () => enforceStops(db, { graceMs: cancelGraceMs, limits, limit: BATCH }));
      await drain("deadlines", tick, () => enforceDeadlines(db, { limits, limit: BATCH }));
      await cap(tick.signal);
    },
  };
}
