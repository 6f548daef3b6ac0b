/** In the place of Node's `timers/promises`: waits in the simulation's time. */
export function setTimeout<Value>(ms: number, value?: Value, options: { signal?: AbortSignal } = {}): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    const timer = globalThis.setTimeout(() => { resolve(value); }, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    }, { once: true });
  });
}
