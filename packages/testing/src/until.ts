import { setTimeout as sleep } from "node:timers/promises";

/** What a probe may answer while it still waits. Everything else, 0 and "" too, is what was waited for. */
type NotYet = undefined | null | false;

/**
 * Asks `probe` every 25 ms until it answers something, and answers that. A probe that throws is asked again;
 * its last error is the cause of the time-out's. `withinMs` defaults to 20 s.
 *
 * Throws when the time is up, naming `what` was waited for and what the probe last said.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | NotYet> | T | NotYet,
  withinMs = 20_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    let last: unknown;
    try {
      const seen = await probe();
      if (seen !== undefined && seen !== null && seen !== false) return seen;
      last = seen;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      const said = last instanceof Error ? last.message : String(last);
      throw new Error(`waited ${withinMs} ms for ${what}; the probe last said: ${said}`, { cause: last });
    }
    await sleep(25);
  }
}
