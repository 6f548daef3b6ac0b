import { deleteEndedRecords, deleteExpiredRecords, purgeRuns, type Database } from "@mainstay/database";
import type { Lane } from "../clock/lane.js";

const PAGE = 1_000;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** How long an idempotency record outlives its run. */
export const RECORD_KEEP_MS = 24 * 60 * 60 * 1_000;

const HOUR_MS = 60 * 60 * 1_000;
const PURGE_PAGE = 100;

/**
 * Takes away runs past their retention, and removes idempotency records: those whose time is over, and those whose run ended more than a day ago or is gone, in
 * bounded batches, as many as the tick has time for.
 */
export function retention({ db, retentionDays, graceHours }: { db: Database; retentionDays: number; graceHours: number }): Lane {
  let after = FIRST_ID;
  let purgeAfter = FIRST_ID;
  return {
    name: "retention", everyMs: 60_000, withinMs: 20_000,
    tick: async ({ signal, itemFailed }) => {
      try {
        for (let more = true; more && !signal.aborted;) {
          const page = await purgeRuns(db, { after: purgeAfter, keepMs: retentionDays * 24 * HOUR_MS, graceMs: graceHours * HOUR_MS, limit: PURGE_PAGE });
          more = page.seen === PURGE_PAGE;
          purgeAfter = more ? page.last ?? FIRST_ID : FIRST_ID; // at the end it begins anew
        }
      } catch (error) {
        itemFailed("ended runs", error);
      }
      try {
        for (let full = true; full && !signal.aborted;) full = (await deleteExpiredRecords(db, PAGE)) === PAGE;
      } catch (error) {
        itemFailed("expired records", error);
      }
      for (let more = true; more && !signal.aborted;) {
        const page = await deleteEndedRecords(db, { after, keepMs: RECORD_KEEP_MS, limit: PAGE });
        more = page.seen === PAGE;
        after = more ? page.last ?? FIRST_ID : FIRST_ID; // at the end it begins anew
      }
    },
  };
}
