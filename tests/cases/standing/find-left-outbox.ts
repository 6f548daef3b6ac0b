import { settle } from "./settle.js";
import type { Watched } from "./watched.js";

/**
 * Rows that stay in the outbox; without a relay there is nobody to take them. A timer's row that nobody has touched and
 * that is not due yet waits by right, also when its run was cancelled: it is dropped when it falls due.
 */
export function findLeftOutbox({ fleet, settleMs }: Watched): Promise<readonly string[]> {
  return settle(async () => {
    const [row] = await fleet.sql<{ rows: number }>("select count(*)::int as rows from outbox where due_at <= now() or taken_at is not null or last_error is not null");
    return row?.rows === 0 ? [] : [`${row?.rows ?? "?"} rows are not published`];
  }, settleMs);
}
