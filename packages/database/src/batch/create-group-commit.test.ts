import { expect, test } from "vitest";
import { StatementTimeout } from "../errors.js";
import { createGroupCommit } from "./create-group-commit.js";

test("what of one key weighs too much for one row becomes several, one after the other, in order", async () => {
  const rows: number[][] = [];
  let flying = 0;
  const submit = createGroupCommit<number, number[], number>({
    op: "checkpoint", keyOf: () => "run", merge: (items) => [...items], giveUpMs: 1_000, maxBytes: 400, itemSizeOf: (item) => item,
    flush: async (batch) => {
      expect((flying += 1)).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      flying -= 1;
      rows.push(...batch);
      return batch.map((row) => row.length);
    },
  });
  await Promise.all([60, 30, 50, 500, 10, 20].map((item) => submit(item)));
  expect(rows).toEqual([[60, 30], [50], [500], [10, 20]]);
});

test("a thousand items of one key are the most that become one row", async () => {
  const rows: number[] = [];
  const submit = createGroupCommit<number, number, number>({
    op: "checkpoint", keyOf: () => "run", merge: (items) => items.length, giveUpMs: 1_000,
    flush: (batch) => { rows.push(...batch); return Promise.resolve(batch); },
  });
  await Promise.all(Array.from({ length: 2_500 }, (_, index) => submit(index)));
  expect(rows).toEqual([1_000, 1_000, 500]);
});

test("after a statement that took too long fewer rows go together, until it goes through; then more again", async () => {
  const sizes: number[] = [];
  const submit = createGroupCommit<number, number, number>({
    op: "claim", merge: ([only]) => only, giveUpMs: 60_000, maxRows: 16,
    flush: (batch) => {
      sizes.push(batch.length);
      return batch.length > 4 ? Promise.reject(new StatementTimeout("runs.claim", 1)) : Promise.resolve([...batch]);
    },
  });
  const asked = Array.from({ length: 40 }, (_, index) => index);
  expect(await Promise.all(asked.map((item) => submit(item)))).toEqual(asked);
  expect(sizes[0]).toBe(16);
  expect(sizes.some((size) => size === 4)).toBe(true);
});
