import { until } from "@mainstay/testing";
import type pg from "pg";
import type { Queryable } from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { pauseText } from "./pause-text.js";

/** Where a statement waits: in the CTE that everything else stands on. */
const otherPlaces: Readonly<Record<string, string | undefined>> = {
  "runs.sweep": "me",
  "incarnations.drain": undefined,
  "incarnations.retire": undefined,
  "incarnations.withhold": undefined,
  "effects.note_ask": undefined,
  "incarnations.delete": "due",
  "lanes.yield": undefined,
  "ops_events.stamp": "base",
};

let lastKey = 0;

/** At which statement to wait, what happens there on other connections, and what executes the statement. */
export type Pause<Answer> = { at: string; meanwhile: () => Promise<unknown>; act: (db: Queryable) => Promise<Answer> };

/**
 * Runs `act` on a connection on which the first execution of the statement `at` waits between its snapshot and its
 * first row lock; there `meanwhile` runs on other connections, then the statement goes on.
 *
 * The statement is really waiting when `meanwhile` begins, and if it held a row lock `meanwhile` would not get through.
 * Throws when the statement was never executed.
 */
export async function pauseOnce<Answer>(bench: Bench, { at, meanwhile, act }: Pause<Answer>): Promise<Answer> {
  const key = 7_000_000 + ++lastKey;
  const [gate, sender] = [await bench.session(), await bench.session()];
  const pid = (sender as unknown as { processID: number }).processID;
  await gate.query("select pg_advisory_lock($1)", [key]);
  const seen = { pauses: 0 };
  const query = async <Row>(statement: { name: string; text: string }, values: readonly unknown[]): Promise<Row[]> => {
    if (statement.name !== at || seen.pauses > 0) return (await sender.query(statement.text, [...values])).rows as Row[];
    seen.pauses += 1;
    const answered: Promise<pg.QueryResult> = sender.query(pauseText(statement.text, { cte: at in otherPlaces ? otherPlaces[at] : "input", key }), [...values]);
    answered.catch(() => undefined); // awaited below
    try {
      await until(`${at} to wait in its pause`, async () => (await gate.query("select from pg_locks where pid = $1 and locktype = 'advisory' and not granted", [pid])).rowCount === 1, 5_000);
      await meanwhile();
    } finally {
      await gate.query("select pg_advisory_unlock($1)", [key]);
    }
    return (await answered).rows as Row[];
  };
  try {
    const answer = await act({ query });
    if (seen.pauses === 0) throw new Error(`${at} was never executed`);
    return answer;
  } finally {
    await Promise.all([gate.end(), sender.end()]);
  }
}
