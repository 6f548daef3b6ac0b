import { stampPositions, type Database } from "@mainstay/database";
import type { Lane } from "../clock/lane.js";

const BATCH = 1_000;

/** Stamps dense positions on committed operations events; readers page by them. */
export function positions({ db }: { db: Database }): Lane {
  return {
    name: "positions", everyMs: 2_000, withinMs: 10_000,
    wanted: ({ unstamped }) => unstamped,
    tick: async ({ signal }) => {
      for (let full = true; full && !signal.aborted;) full = (await stampPositions(db, BATCH)) === BATCH;
    },
  };
}
