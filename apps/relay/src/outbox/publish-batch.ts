import type { TicketPublisher } from "@mainstay/broker";
import { deleteOutbox, putBackOutbox, takeOutbox, type Queryable } from "@mainstay/database";
import { shapeTickets } from "./shape-tickets.js";

/** What a batch is published with. */
export type BatchParts = Readonly<{
  db: Queryable;
  publisher: Pick<TicketPublisher, "publish">;
  /** This relay's incarnation. */
  relay: string;
  limit: number;
  /** Rows that a relay took longer ago than this are taken again. */
  staleMs: number;
  /** How far ahead the next due row is looked for. */
  horizonMs: number;
}>;

/** What became of a batch. `failures` names the pools whose tickets were refused, with the reason. */
export type BatchResult = Readonly<{
  taken: number;
  published: number;
  failures: readonly Error[];
  /** From due to published, by the database's clock up to the take and by this process's since. Milliseconds, one a row. */
  lagsMs: readonly number[];
  /** Milliseconds until the next row is due, within the horizon. */
  nextDueMs: number | null;
}>;

/**
 * Takes due rows, publishes them as tickets, one round trip a pool, and then
 * deletes them. Rows whose tickets the broker refused are given back.
 *
 * Crash after publishing and before the delete: the rows are taken again after
 * `staleMs` and the same tickets ring twice. Only a claim admits (H18).
 */
export async function publishBatch({ db, publisher, relay, limit, staleMs, horizonMs }: BatchParts): Promise<BatchResult> {
  const { rows, nextDueMs } = await takeOutbox(db, { relay, limit, staleMs, horizonMs });
  if (rows.length === 0) return { taken: 0, published: 0, failures: [], lagsMs: [], nextDueMs };

  const takenAt = performance.now();
  const refused = new Map<string, Error>();
  await Promise.all(shapeTickets(rows).map(async ({ pool, tickets }) => {
    try {
      await publisher.publish(pool, tickets);
    } catch (error) {
      refused.set(pool, error instanceof Error ? error : new Error(String(error)));
    }
  }));
  const sinceMs = performance.now() - takenAt;
  const rung = rows.filter(({ pool }) => !refused.has(pool));
  const published = rung.map(({ seq }) => seq);
  await Promise.all([
    published.length > 0 ? deleteOutbox(db, published) : undefined,
    ...[...refused].map(([refusedPool, { message }]) =>
      putBackOutbox(db, { seqs: rows.filter(({ pool }) => pool === refusedPool).map(({ seq }) => seq), reason: message })),
  ]);
  return { taken: rows.length, published: published.length, failures: [...refused.values()], lagsMs: rung.map(({ lagMs }) => lagMs + sinceMs), nextDueMs };
}
