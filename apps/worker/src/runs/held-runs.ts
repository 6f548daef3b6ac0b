import type { ClaimedRun } from "@mainstay/database";
import type { HeldRun } from "./held-run.js";

/** The runs this process holds, and the slots they and the claims under way take. */
export type HeldRuns = {
  readonly byId: ReadonlyMap<string, HeldRun>;
  add: (run: HeldRun) => void;
  /** Forgets a run: its code is aborted, its timers end, nothing of it is written any more. */
  drop: (run: HeldRun, why: string) => void;
  dropAll: (why: string) => void;
  /** Slots that a claim under way may fill; released by `unreserve`. */
  reserve: (slots: number) => void;
  unreserve: (slots: number) => void;
  /** Slots that claims under way may fill. */
  reserved: () => number;
  free: () => number;
  /** False: with this run more would be here than an isolated one may have beside it (rule H15). */
  admits: (claimed: Pick<ClaimedRun, "id" | "cohortLimit">) => boolean;
  /** Calls back whenever a slot comes free; `wasFull`: there was none before, so that work may have been left. */
  onFree: (listener: (wasFull: boolean) => void) => void;
};

export function createHeldRuns(slots: number): HeldRuns {
  const byId = new Map<string, HeldRun>();
  let reserved = 0;
  let listeners: ((wasFull: boolean) => void)[] = [];
  const tell = (wasFull: boolean) => { for (const listener of listeners) listener(wasFull); };
  const limits = () => [...byId.values()].map((run) => run.claimed.cohortLimit).filter((limit) => limit !== null);
  const room = () => Math.min(slots, ...limits()) - byId.size;
  const free = () => Math.max(0, room() - reserved);
  const drop = (run: HeldRun, why: string) => {
    if (run.dropped) return;
    run.dropped = true;
    const wasFull = room() <= 0;
    for (const timer of run.timers.values()) clearTimeout(timer);
    run.timers.clear();
    for (const execution of run.executions.values()) {
      execution.over = true;
      execution.abort.abort(new Error(why));
    }
    run.executions.clear();
    run.trace?.end({ outcome: why });
    if (byId.get(run.id) === run) byId.delete(run.id);
    tell(wasFull);
  };
  return {
    byId,
    add: (run) => {
      const earlier = byId.get(run.id);
      if (earlier !== undefined) drop(earlier, "claimed again under a higher fence");
      byId.set(run.id, run);
    },
    drop,
    dropAll: (why) => { for (const run of [...byId.values()]) drop(run, why); },
    reserve: (n) => { reserved += n; },
    unreserve: (n) => {
      reserved -= n;
      tell(false);
    },
    reserved: () => reserved,
    free,
    admits: ({ id, cohortLimit }) => Math.min(cohortLimit ?? Infinity, ...limits()) >= byId.size + (byId.has(id) ? 0 : 1),
    onFree: (listener) => { listeners = [...listeners, listener]; },
  };
}
