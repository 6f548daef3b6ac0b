import { readEventCounts, type Database } from "@mainstay/database";

/** Wakes readers of runs whose log has grown. */
export type LogWatch = Readonly<{
  /**
   * Resolves `grown` once the run has more events than `known`, `quiet` after `withinMs`, at once when `signal`
   * aborts. A hint only shortens it; every `pollMs` the counts are read anyway.
   */
  wait: (asked: { workspace: string; runId: string; known: number; withinMs: number; signal: AbortSignal }) => Promise<"grown" | "quiet">;
  /** A hint came: some run's log has grown. Coalesced; free while nobody waits. */
  hint: () => void;
}>;

type Waiter = { workspace: string; runId: string; known: number; grown: () => void };

/** Two reads of the counts are at least this far apart, however many hints come. */
const leastGapMs = 20;

/**
 * One statement per workspace and round serves all waiting readers. Nothing is read while nobody waits. A read that
 * fails is tried again at the next poll: the readers' own limits end the waiting.
 */
export function createLogWatch(database: Database, options: { pollMs: number }): LogWatch {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let reading = false;
  let lastReadAt = Number.NEGATIVE_INFINITY;

  function schedule(inMs: number): void {
    const at = Math.max(performance.now() + inMs, lastReadAt + leastGapMs);
    if (waiters.size === 0 || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      void read();
    }, Math.max(0, at - performance.now()));
    timer.unref();
  }

  async function read(): Promise<void> {
    if (reading) return;
    reading = true;
    lastReadAt = performance.now();
    const byWorkspace = new Map<string, Waiter[]>();
    for (const waiter of waiters) {
      const group = byWorkspace.get(waiter.workspace);
      if (group === undefined) byWorkspace.set(waiter.workspace, [waiter]);
      else group.push(waiter);
    }
    for (const [workspace, group] of byWorkspace) {
      try {
        const counts = await readEventCounts(database, workspace, [...new Set(group.map((waiter) => waiter.runId))]);
        for (const waiter of group) if ((counts.get(waiter.runId) ?? 0) > waiter.known) waiter.grown();
      } catch {
        // The database is away; the next poll asks again.
      }
    }
    reading = false;
    schedule(options.pollMs);
  }

  return {
    hint: () => { schedule(0); },
    wait: ({ workspace, runId, known, withinMs, signal }) => new Promise((resolve) => {
      const end = (outcome: "grown" | "quiet"): void => {
        clearTimeout(limit);
        signal.removeEventListener("abort", quiet);
        waiters.delete(waiter);
        resolve(outcome);
      };
      const quiet = (): void => { end("quiet"); };
      const limit = setTimeout(quiet, withinMs);
      const waiter: Waiter = { workspace, runId, known, grown: () => { end("grown"); } };
      if (signal.aborted) { quiet(); return; }
      signal.addEventListener("abort", quiet, { once: true });
      waiters.add(waiter);
      // What was appended between the caller's own read and now has rung no bell for this waiter.
      schedule(0);
    }),
  };
}
