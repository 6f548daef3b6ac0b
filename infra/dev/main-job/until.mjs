import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks `probe` every 20 ms until it answers something, and answers that. Throws, naming `what`, when the time is up,
 * and when the signal aborts.
 */
export async function until(what, probe, { signal, withinMs = 60_000 }) {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    signal.throwIfAborted();
    const seen = await probe();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > giveUpAt) throw new Error(`waited ${withinMs / 1000} s for ${what}`);
    await sleep(20, undefined, { signal });
  }
}
