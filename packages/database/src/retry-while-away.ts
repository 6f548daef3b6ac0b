import { setTimeout as sleep } from "node:timers/promises";
import { isTransient } from "./errors.js";

/** Pause before the next try, doubled each time up to the last. Milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Does `act`, again and again while the database cannot be reached or is busy; anything else rejects at once. For what a
 * process needs before it can begin. `act` must be safe to repeat.
 */
export async function retryWhileAway<Answer>(act: () => Promise<Answer>, onAway?: (error: unknown) => void): Promise<Answer> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
    try {
      return await act();
    } catch (error) {
      if (!isTransient(error)) throw error;
      onAway?.(error);
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }
}
