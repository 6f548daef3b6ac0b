import { mostRunsPerTicket } from "@mainstay/broker";

/** A due outbox row, as far as a ticket needs it. */
type Row = { runId: string; pool: string };

/** The tickets of one pool: each a list of 1 to 32 run ids. */
export type PoolTickets = { pool: string; tickets: string[][] };

/**
 * Shares rows out to tickets, pool by pool, in the order they came. Up to four
 * runs each while there are few, up to 32 when there is a backlog, so that its
 * cost in the broker is shared: a quarter of the batch, rounded up. A run that
 * has two rows is named once.
 */
export function shapeTickets(rows: readonly Row[]): PoolTickets[] {
  const byPool = new Map<string, Set<string>>();
  for (const { runId, pool } of rows) {
    const runs = byPool.get(pool) ?? new Set();
    byPool.set(pool, runs.add(runId));
  }
  return [...byPool].map(([pool, unique]) => {
    const runs = [...unique];
    const size = Math.min(mostRunsPerTicket, Math.max(4, Math.ceil(runs.length / 4)));
    const tickets: string[][] = [];
    for (let at = 0; at < runs.length; at += size) tickets.push(runs.slice(at, at + size));
    return { pool, tickets };
  });
}
