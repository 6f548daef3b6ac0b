import { deleteIncarnations, type Database } from "@mainstay/database";
import type { Lane } from "../clock/lane.js";

const BATCH = 500;

/** Dead incarnations are kept as evidence for so long. */
export const INCARNATION_KEEP_MS = 24 * 60 * 60 * 1_000;

/** Removes incarnations that have been dead for a day and own nothing. Silent ones are lapsed by every process's heartbeat. */
export function instances({ db }: { db: Database }): Lane {
  return {
    name: "instances", everyMs: 60_000, withinMs: 20_000,
    tick: async ({ signal }) => {
      for (let full = true; full && !signal.aborted;) full = (await deleteIncarnations(db, { afterMs: INCARNATION_KEEP_MS, limit: BATCH })) === BATCH;
    },
  };
}
