import { setTimeout as sleep } from "node:timers/promises";
import { now } from "../measure/clock.mjs";

/** Waits until the code of `count` runs has ended and the system itself calls them completed; answers when that was. */
export async function awaitCompleted(system, { sink, count, known = count, withinMs = 90_000 }) {
  const until = now() + withinMs;
  while (sink.ended() < count && now() < until) await sleep(10);
  while (now() < until) {
    const seen = now();
    if ((await system.completed(known)) >= known) return seen;
    await sleep(20);
  }
  throw new Error(`only ${sink.ended()} of ${count} runs ended within ${withinMs / 1_000} s`);
}
