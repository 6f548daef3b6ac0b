import { setTimeout as pause } from "node:timers/promises";
import { createHint, isTransient, suspectRuns, takeOver, type Released, type ReleaseLimits, type Session } from "@mainstay/database";

export type ReleaseRunsOptions = {
  /** `takeOver`: of incarnations that have lapsed or ended; `suspect`: of one whose sessions are gone. */
  how: "takeOver" | "suspect";
  incarnations: readonly string[];
  limits: ReleaseLimits;
  /** The session to do it on; asked before every statement. */
  session: () => Session | undefined;
  onReleased: (released: readonly Released[]) => void;
};

const BATCH = 500;
const MOST_FAILURES = 5;
const RETRY_PAUSE_MS = 50;

/**
 * Releases all runs that the incarnations hold and wakes who may claim them. Rows that others have locked get one more
 * look; what is left then, and what a database that went away kept, is the release lane's.
 */
export async function releaseRuns({ how, incarnations, limits, session, onReleased }: ReleaseRunsOptions): Promise<void> {
  const release = how === "takeOver" ? takeOver : suspectRuns;
  let failures = 0;
  let batch = BATCH;
  let lastLook = false;
  for (;;) {
    const on = session();
    try {
      if (on === undefined) throw new Error("no session to the database stands");
      const released = await release(on, { incarnations, limits, limit: batch });
      if (released.length > 0) {
        const hint = createHint(on);
        hint("work");
        hint("dispatch");
        hint("log");
        onReleased(released);
      }
      if (released.length < batch && (lastLook || how === "suspect")) return;
      lastLook = released.length < batch;
    } catch (error) {
      failures += 1;
      if (failures >= MOST_FAILURES || (on !== undefined && !isTransient(error))) throw error;
      lastLook = false;
      batch = Math.ceil(batch / 4); // what did not come through in time may in smaller pieces
    }
    if (lastLook || failures > 0) await pause(RETRY_PAUSE_MS * 2 ** failures);
  }
}
