import { randomUUID } from "node:crypto";
import { sweepRuns, type Claimant, type ClaimedRun, type Queryable } from "@mainstay/database";
import type { HeldRuns } from "../runs/held-runs.js";

export type SweepParts = {
  db: Queryable;
  held: HeldRuns;
  claimant: () => Claimant;
  draining: () => boolean;
  begin: (claimed: ClaimedRun, owner: string) => Promise<void>;
  /** Milliseconds between two sweeps while there is work about. */
  sweepMs: number;
  /** How long it rests when nothing was found lately; undefined: the audit and the hints wake it. */
  idleRestMs: () => number | undefined;
  onSwept: (run: ClaimedRun) => void;
  onLostReply: () => void;
  onError: (error: unknown) => void;
};

export type SweepLoop = {
  /** Something may be due now, or in `afterMs`. */
  wake: (afterMs?: number) => void;
  stop: () => Promise<void>;
};

/** One statement claims at most so many runs. */
const MOST = 64;
/** After work was found the worker goes on asking for this long. Milliseconds. */
const WORK_ABOUT_MS = 5_000;

/**
 * Claims what is due without a ticket: the fallback of every lost hint, and the only way without a broker. Idle beside
 * a live broker it asks nothing of its own: the audit and the hints wake it.
 */
export function startSweepLoop(parts: SweepParts): SweepLoop {
  const { held, sweepMs } = parts;
  let stopped = false;
  let running: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Infinity;
  let workSeenAt = -Infinity;

  const schedule = (afterMs: number) => {
    if (stopped) return;
    const at = performance.now() + afterMs;
    if (timer !== undefined && timerAt <= at) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => { timer = undefined; timerAt = Infinity; wake(); }, afterMs);
  };

  const sweepOnce = async (most: number): Promise<number> => {
    if (most <= 0) return 0;
    const me = parts.claimant();
    held.reserve(most);
    let unused = most;
    try {
      const claimed = await sweepRuns(parts.db, me, Array.from({ length: most }, () => randomUUID()));
      for (const run of claimed) {
        parts.onSwept(run);
        // its slot stays reserved until the run itself stands there
        unused -= 1;
        void parts.begin(run, me.incarnation).catch(parts.onError).then(() => { held.unreserve(1); });
      }
      return claimed.length;
    } catch (error) {
      parts.onError(error);
      parts.onLostReply();
      return 0;
    } finally {
      held.unreserve(unused);
    }
  };

  const over = (): boolean => parts.draining() || stopped;
  const pass = async (): Promise<void> => {
    do {
      again = false;
      if (over()) return;
      const most = Math.min(MOST, held.free());
      let found = await sweepOnce(most);
      // a run that is isolated after repeated losses fits only a smaller company
      if (found === 0 && most > 1 && !over()) found = await sweepOnce(1);
      if (found > 0) {
        workSeenAt = performance.now();
        again ||= found === most;
      }
    } while (again && held.free() > 0);
  };

  const wake = (afterMs = 0): void => {
    if (stopped) return;
    if (afterMs > 0) { schedule(afterMs); return; }
    if (running !== undefined) { again = true; return; }
    if (held.free() <= 0) return; // a slot that comes free wakes it
    running = pass().finally(() => {
      running = undefined;
      const restMs = performance.now() - workSeenAt < WORK_ABOUT_MS ? sweepMs : parts.idleRestMs();
      if (restMs !== undefined) schedule(restMs);
    });
  };
  schedule(0);
  return {
    wake,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
