/**
 * The work's outcome, or the signal's reason as soon as it aborts. `fetch` of Node 20 holds its signal weakly: once a
 * collection has run, an abort no longer ends the reading of a body, so that every wait is raced by hand.
 */
export function orAborted<Outcome>(work: Promise<Outcome>, signal: AbortSignal | undefined): Promise<Outcome> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const aborted = (): void => { reject(signal.reason instanceof Error ? signal.reason : new Error("aborted")); };
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => { signal.removeEventListener("abort", aborted); });
  });
}
