import { findBrokenFences } from "./find-broken-fences.js";
import { findBrokenLogs } from "./find-broken-logs.js";
import { findDoubleEffects } from "./find-double-effects.js";
import { findLeftOutbox } from "./find-left-outbox.js";
import { findLeftSessions } from "./find-left-sessions.js";
import { findLostRuns } from "./find-lost-runs.js";
import { findMovedEnds } from "./find-moved-ends.js";
import { findOddEvents } from "./find-odd-events.js";
import { findSecrets } from "./find-secrets.js";
import { findUnaskedEnds } from "./find-unasked-ends.js";
import type { StandingCheck, Watched } from "./watched.js";

/** Each answers the faults it finds, in words; it may wait for what settles by itself. */
const checks: readonly (readonly [StandingCheck, (watched: Watched) => Promise<readonly string[]>])[] = [
  ["accepted", findLostRuns], ["terminal", findMovedEnds], ["log", findBrokenLogs], ["log", findOddEvents], ["fences", findBrokenFences], ["effects", findDoubleEffects],
  ["outbox", findLeftOutbox], ["processes", findUnaskedEnds], ["sessions", findLeftSessions], ["secrets", findSecrets],
];

/**
 * What holds after every case, whatever was broken on the way. A check is left out only where `except` gives the reason.
 *
 * @throws naming every fault of every check.
 */
export async function checkStanding(watched: Watched): Promise<void> {
  const faults: string[] = [];
  for (const [name, find] of checks) {
    if (watched.except[name] !== undefined) continue;
    faults.push(...(await find(watched)).slice(0, 10).map((fault) => `${name}: ${fault}`));
  }
  if (faults.length > 0) throw new Error(`the standing checks found:\n  ${faults.join("\n  ")}`);
}
