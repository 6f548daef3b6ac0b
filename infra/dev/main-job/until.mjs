import { setTimeout as sleep } from "node:timers/promises";

/** Asks `probe` every 20 ms until it answers something, and answers that. Throws, naming `what`, when the time is up. */
export async function until(what, probe, withinMs = 60_000) {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const seen = await probe();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > giveUpAt) throw new Error(`waited ${withinMs / 1000} s for ${what}`);
    await sleep(20);
  }
}
