/** A loop's rests: each can be ended early, and all of them at once. */
export type Rest = Readonly<{
  /** Resolves after `ms`, or as soon as `end` or `stop` is called; at once when `end` was called since the last rest began. */
  take(ms: number): Promise<void>;
  /** Ends the rest under way, or the next one: a hint that comes while the loop works is not lost. */
  end(): void;
  stop(): void;
  stopped(): boolean;
}>;

/** Makes the rests of one loop. */
export function createRest(): Rest {
  let stopped = false;
  let hinted = false;
  let wake: (() => void) | undefined;
  const end = (): void => {
    hinted = true;
    wake?.();
  };
  return Object.freeze({
    take: async (ms: number) => {
      if (!hinted && !stopped && ms > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      hinted = false;
    },
    end,
    stop: () => {
      stopped = true;
      wake?.();
    },
    stopped: () => stopped,
  });
}
