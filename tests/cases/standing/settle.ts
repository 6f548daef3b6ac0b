import { setTimeout as sleep } from "node:timers/promises";

/** Asks for faults until there are none, at most `withinMs` (default 20 s); answers those that stay. */
export async function settle(find: () => Promise<readonly string[]>, withinMs = 20_000): Promise<readonly string[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const faults = await find();
    if (faults.length === 0 || performance.now() > deadline) return faults;
    await sleep(250);
  }
}
