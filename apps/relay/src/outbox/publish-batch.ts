import type { TicketPublisher } from "@mainstay/broker";
import { isolateOutbox, putBackOutbox, takeOutbox, type IsolatedRow, type OutboxRow, type Queryable } from "@mainstay/database";
import { publishPool, type PoolResult } from "./publish-pool.js";

/** What a batch is published with. */
export type BatchParts = Readonly<{
  db: Queryable;
  publisher: Pick<TicketPublisher, "publish" | "brokerUp">;
  /** This relay's incarnation. */
  relay: string;
  limit: number;
  /** Rows that a relay took longer ago than this are taken again. */
  staleMs: number;
  /** Only rows that fell due since then are looked at; absent: all. Milliseconds. */
  recentMs?: number | undefined;
  /** How far ahead the next due row is looked for. */
  horizonMs: number;
  /** A row that is refused by itself after so many tries is isolated instead of given back. */
  mostTries: number;
  /** Rows of an earlier batch that the broker has acknowledged: deleted as this one is taken. */
  acknowledged: readonly string[];
}>;

/** What became of a batch. */
export type BatchResult = Readonly<{
  taken: number;
  /** Rows whose tickets the broker has acknowledged: to be deleted, by the next batch or by themselves. */
  published: readonly string[];
  /** Each refusal of the broker, in the order they came. */
  failures: readonly Error[];
  /** Rows that were taken out of the way, with what was said of them. */
  isolated: readonly IsolatedRow[];
  /** Rows were given back because the broker is away. */
  brokerAway: boolean;
  /** From due to published, by the database's clock up to the take and by this process's since. Milliseconds, one a row. */
  lagsMs: readonly number[];
  /** Milliseconds until the next row is due, within the horizon. */
  nextDueMs: number | null;
}>;

/**
 * Takes due rows and publishes them as tickets, one round trip a pool; the
 * next batch deletes them. Rows whose tickets the broker refused are given back, those
 * refused too often are isolated.
 *
 * Crash after publishing and before the delete: the rows are taken again after
 * `staleMs` and the same tickets ring twice. Only a claim admits (H18).
 */
export async function publishBatch({ db, publisher, relay, limit, staleMs, recentMs, horizonMs, mostTries, acknowledged }: BatchParts): Promise<BatchResult> {
  const { rows, nextDueMs } = await takeOutbox(db, { relay, limit, staleMs, recentMs, horizonMs, published: acknowledged });
  const takenAt = performance.now();
  const publish = async ([pool, due]: [string, OutboxRow[]]): Promise<PoolResult & Pick<BatchResult, "isolated" | "lagsMs">> => {
    const result = await publishPool(due, { pool, publisher });
    const { rung, guilty, left, reason } = result;
    const sinceMs = performance.now() - takenAt;
    const isolated: IsolatedRow[] = [];
    await Promise.all([
      left.length > 0 && putBackOutbox(db, { seqs: left.map(({ seq }) => seq), reason, alone: false }),
      ...guilty.map(async ([{ seq, tries }, said]) => {
        if (tries >= mostTries) isolated.push(...await isolateOutbox(db, { seqs: [seq], relay, mostTries, reason: said }));
        else await putBackOutbox(db, { seqs: [seq], reason: said, alone: true });
      }),
    ]);
    return { ...result, isolated, lagsMs: rung.map(({ lagMs }) => lagMs + sinceMs) };
  };
  const results = await Promise.all([...byPool(rows)].map(publish));
  return {
    taken: rows.length,
    published: results.flatMap(({ rung }) => rung.map(({ seq }) => seq)),
    failures: results.flatMap(({ failures }) => failures),
    isolated: results.flatMap(({ isolated }) => isolated),
    brokerAway: results.some(({ left }) => left.length > 0),
    lagsMs: results.flatMap(({ lagsMs }) => lagsMs),
    nextDueMs,
  };
}

function byPool(rows: readonly OutboxRow[]): Map<string, OutboxRow[]> {
  const pools = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const known = pools.get(row.pool);
    if (known === undefined) pools.set(row.pool, [row]);
    else known.push(row);
  }
  return pools;
}
