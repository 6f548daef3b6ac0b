import { settle } from "./settle.js";
import type { Watched } from "./watched.js";

/** Rows that stay in the outbox; without a relay there is nobody to take them. */
export function findLeftOutbox({ fleet }: Watched): Promise<readonly string[]> {
  return settle(async () => {
    const [row] = await fleet.sql<{ rows: number }>("select count(*)::int as rows from outbox");
    return row?.rows === 0 ? [] : [`${row?.rows ?? "?"} rows are not published`];
  });
}
