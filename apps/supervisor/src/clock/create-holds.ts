import type { LaneName } from "./lane.js";

/** Which lanes this replica may work on, by its own monotonic clock. */
export type Holds = Readonly<{
  /** The lane is held until `untilMs` of `performance.now()`; what has passed already ends it. */
  extend: (name: LaneName, untilMs: number) => void;
  /** Another replica holds it, or nobody. */
  end: (name: LaneName) => void;
  /** Aborts when the lane is no longer held; undefined: it is not held. */
  signalOf: (name: LaneName) => AbortSignal | undefined;
}>;

/**
 * A hold ends by itself when its lease is over, whether or not the database can be asked: a process that was frozen or
 * cut off begins no further item of a lane that another replica works on by now.
 */
export function createHolds(): Holds {
  const holds = new Map<LaneName, { over: AbortController; timer?: NodeJS.Timeout }>();
  const end = (name: LaneName): void => {
    const hold = holds.get(name);
    clearTimeout(hold?.timer);
    holds.delete(name);
    hold?.over.abort();
  };
  return {
    extend(name, untilMs) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) { end(name); return; }
      const hold = holds.get(name) ?? { over: new AbortController() };
      clearTimeout(hold.timer);
      hold.timer = setTimeout(() => { end(name); }, leftMs).unref();
      holds.set(name, hold);
    },
    end,
    signalOf: (name) => holds.get(name)?.over.signal,
  };
}
