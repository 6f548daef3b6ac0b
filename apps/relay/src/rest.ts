/** A loop's rests: each can be ended early, and all of them at once. */
export type Rest = Readonly<{
  /**
   * Resolves after `ms`, or as soon as `stop` is called, or `end` was called, also since the last rest began; but by
   * `end` not before `leastMs`, so that what follows a hint closely is found by one look.
   */
  take(ms: number, leastMs?: number): Promise<void>;
  /** Ends the rest under way, or the next one: a hint that comes while the loop works is not lost. */
  end(): void;
  stop(): void;
  stopped(): boolean;
}>;

/** Makes the rests of one loop. */
export function createRest(): Rest {
  let stopped = false;
  let hinted = false;
  /** In the least part of a rest, which a hint does not end. */
  let deaf = false;
  let wake: (() => void) | undefined;
  const sleep = async (ms: number): Promise<void> => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    wake = undefined;
  };
  return Object.freeze({
    take: async (ms: number, leastMs = 0) => {
      const deafMs = Math.min(ms, leastMs);
      deaf = true;
      if (!stopped && deafMs > 0) await sleep(deafMs);
      deaf = false;
      if (!hinted && !stopped && ms > deafMs) await sleep(ms - deafMs);
      hinted = false;
    },
    end: () => {
      hinted = true;
      if (!deaf) wake?.();
    },
    stop: () => {
      stopped = true;
      wake?.();
    },
    stopped: () => stopped,
  });
}
