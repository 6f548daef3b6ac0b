import { countEffects, countRuns, readOpenDeadLetters, readSessions, readWaiting, type Database } from "@mainstay/database";
import type { Metrics } from "@mainstay/telemetry";

const FRESH_MS = 10_000;
/** Counts that read whole tables. */
const COUNT_FRESH_MS = 60_000;

/** Does `read` at most once in `freshMs`; one that failed is done again by the next scrape. */
function cached(freshMs: number, read: () => Promise<void>): () => Promise<void> {
  let readMs = -Infinity;
  return async () => {
    if (performance.now() - readMs < freshMs) return;
    await read();
    readMs = performance.now();
  };
}

/**
 * Facts of the whole fleet, read from the database at the scrape by every supervisor: all report the same number, rules
 * take the greatest. A statement that fails leaves its gauges as they were.
 */
export function reportFleet({ metrics, db }: { metrics: Metrics; db: Database }): void {
  metrics.beforeScrape(cached(COUNT_FRESH_MS, async () => {
    for (const [status, n] of await countRuns(db)) metrics.runs.set({ status }, n);
  }));
  metrics.beforeScrape(cached(COUNT_FRESH_MS, async () => {
    for (const [state, n] of await countEffects(db)) metrics.effects.set({ state }, n);
  }));
  metrics.beforeScrape(cached(FRESH_MS, async () => {
    const waiting = await readWaiting(db);
    metrics.dueRuns.reset();
    metrics.dueRunsOldest.reset();
    metrics.outboxPending.set({ topic: "dispatch" }, 0);
    metrics.outboxOldest.set({ topic: "dispatch" }, 0);
    for (const { what, key, n, oldest } of waiting) {
      if (what === "outbox") {
        metrics.outboxPending.set({ topic: key }, n);
        metrics.outboxOldest.set({ topic: key }, oldest);
      } else {
        metrics.dueRuns.set({ pool: key }, n);
        metrics.dueRunsOldest.set({ pool: key }, oldest);
      }
    }
  }));
  metrics.beforeScrape(cached(FRESH_MS, async () => {
    const open = await readOpenDeadLetters(db);
    for (const gauge of [metrics.deadLetters, metrics.deadLettersOldest, metrics.messageDeadLetters, metrics.messageDeadLettersOldest]) gauge.reset();
    for (const { family, class: name, state, n, oldest } of open) {
      if (family === "run") {
        metrics.deadLetters.set({ class: name, state }, n);
        metrics.deadLettersOldest.set({ class: name, state }, oldest);
      } else {
        metrics.messageDeadLetters.set({ reason: name }, n);
        metrics.messageDeadLettersOldest.set({ reason: name }, oldest);
      }
    }
  }));
  metrics.beforeScrape(cached(FRESH_MS, async () => {
    const sessions = await readSessions(db);
    metrics.dbSessions.reset();
    for (const { role, n } of sessions) metrics.dbSessions.set({ role }, n);
    const held = sessions.map(({ oldest }) => oldest).filter((oldest) => oldest > 0);
    metrics.dbOldestSnapshot.set(held.length === 0 ? 0 : Math.min(...held));
  }));
}
