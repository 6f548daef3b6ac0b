import { deleteOutbox, takeOutbox, type Queryable } from "@mainstay/database";

/**
 * Deletes due rows of a fleet without a broker: nobody would hear a ticket, the
 * workers find every run by their sweep, and unread rows would only pile up.
 * Answers how many there were.
 */
export async function drainUnheard(
  { db, relay, limit, staleMs }: { db: Queryable; relay: string; limit: number; staleMs: number },
): Promise<number> {
  const { rows } = await takeOutbox(db, { relay, limit, staleMs, horizonMs: 1 });
  return rows.length === 0 ? 0 : deleteOutbox(db, rows.map(({ seq }) => seq));
}
