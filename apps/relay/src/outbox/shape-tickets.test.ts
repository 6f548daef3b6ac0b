import fc from "fast-check";
import { expect, test } from "vitest";
import { shapeTickets } from "./shape-tickets.js";

const rows = (count: number, pool = "default") => Array.from({ length: count }, (_, at) => ({ runId: `${pool}-${at}`, pool }));

test.each([[1, 4], [4, 4], [5, 4], [16, 4], [17, 5], [64, 16], [125, 32], [128, 32], [512, 32]])("%i runs of a pool go out as tickets of up to %i", (count, size) => {
  const [only] = shapeTickets(rows(count));
  expect(only?.tickets[0]).toHaveLength(Math.min(count, size));
  expect(only?.tickets).toHaveLength(Math.ceil(count / size));
});

test("no ticket mixes pools, names more than 32 runs or none, loses a run or names one twice", () => {
  fc.assert(fc.property(fc.array(fc.record({ runId: fc.integer({ min: 0, max: 400 }).map(String), pool: fc.constantFrom("a", "b", "c") }), { maxLength: 600 }), (given) => {
    const shaped = shapeTickets(given);
    expect(new Set(shaped.map(({ pool }) => pool)).size).toBe(shaped.length);
    for (const { pool, tickets } of shaped) {
      for (const { length } of tickets) expect(length >= 1 && length <= 32).toBe(true);
      const named = tickets.flat();
      expect(new Set(named).size).toBe(named.length);
      expect(new Set(named)).toEqual(new Set(given.filter((row) => row.pool === pool).map(({ runId }) => runId)));
    }
  }));
});
