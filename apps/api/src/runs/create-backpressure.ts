import { readBacklog, type Queryable } from "@mainstay/database";

/** The soft cap of accepted runs that wait for a worker. */
export type Backpressure = Readonly<{
  /** Whether one more run may be accepted. Never waits: the count behind it is at most some seconds old. */
  admits: () => boolean;
}>;

/** Counts are this old at most while runs are being accepted. Without requests nothing is counted. */
const freshForMs = 2_000;

/**
 * Counts the backlog while runs are accepted, and adds what this api accepted since. A count that fails changes
 * nothing. The cap is soft: several apis together may pass it by what they accept within two seconds.
 */
export function createBackpressure(db: Queryable, cap: number): Backpressure {
  let counted = 0;
  let since = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let counting = false;

  function recount(): void {
    if (counting || performance.now() - countedAt < freshForMs) return;
    counting = true;
    since = 0;
    readBacklog(db, cap + 1)
      .then((waiting) => { counted = waiting; }, () => undefined)
      .finally(() => {
        counting = false;
        countedAt = performance.now();
      });
  }

  return {
    admits() {
      recount();
      if (counted + since >= cap) return false;
      since += 1;
      return true;
    },
  };
}
