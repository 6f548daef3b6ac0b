import { readBacklog, type Queryable } from "@mainstay/database";

/** Which soft cap refuses a run: that of the fleet, or that of its workspace. The reason in the metric of refusals. */
export type FullCap = "backpressure" | "workspace_backpressure";

/** The soft caps of accepted runs that wait for a worker. */
export type Backpressure = Readonly<{
  /** Counts one more run of the workspace in, or says which cap refuses it. Never waits: the count is some seconds old at most. */
  refuses: (workspace: string) => FullCap | undefined;
}>;

/** Two counts are at least this far apart, and twenty times as far as a count takes. Without requests nothing is counted. */
const freshForMs = 2_000;
const restFactor = 20;

/** Runs by workspace, and their sum. */
type Tally = { all: number; of: Map<string, number> };

const emptyTally = (): Tally => ({ all: 0, of: new Map() });

/**
 * Counts the backlog while runs are accepted, and adds what this api admitted since the count before began: what was
 * admitted while one is under way may stand in it or not, and is added either way. A count that fails changes nothing.
 * The caps are soft: several apis together may pass them by what they accept between two counts.
 */
export function createBackpressure(db: Queryable, { cap, workspaceCap }: { cap: number; workspaceCap: number }): Backpressure {
  let counted = emptyTally();
  let before = emptyTally();
  let since = emptyTally();
  let dueAt = Number.NEGATIVE_INFINITY;
  let counting = false;

  function recount(): void {
    const began = performance.now();
    if (counting || began < dueAt) return;
    counting = true;
    before = sum(before, since);
    since = emptyTally();
    readBacklog(db, cap + 1)
      .then((of) => {
        counted = { all: [...of.values()].reduce((all, one) => all + one, 0), of: new Map(of) };
        before = emptyTally();
      }, () => undefined)
      .finally(() => {
        counting = false;
        const ended = performance.now();
        dueAt = ended + Math.max(freshForMs, restFactor * (ended - began));
      });
  }

  return {
    refuses(workspace) {
      recount();
      if (counted.all + before.all + since.all >= cap) return "backpressure";
      const own = [counted, before, since].reduce((all, tally) => all + (tally.of.get(workspace) ?? 0), 0);
      if (own >= workspaceCap) return "workspace_backpressure";
      since.all += 1;
      since.of.set(workspace, (since.of.get(workspace) ?? 0) + 1);
      return undefined;
    },
  };
}

function sum(one: Tally, other: Tally): Tally {
  const of = new Map(one.of);
  for (const [workspace, count] of other.of) of.set(workspace, (of.get(workspace) ?? 0) + count);
  return { all: one.all + other.all, of };
}
