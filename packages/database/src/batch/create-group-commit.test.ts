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

/** A batcher of rows that tells of each flush, when it began and with how many. */
function openLingering(lingerMs: number) {
  const flushes: { at: number; rows: number }[] = [];
  const submit = createGroupCommit<number, number, number>({
    op: "checkpoint", merge: ([only]) => only, giveUpMs: 1_000, lingerMs,
    flush: async (batch) => {
      flushes.push({ at: performance.now(), rows: batch.length });
      await new Promise((resolve) => setTimeout(resolve, 5));
      return batch;
    },
  });
  return { submit, flushes };
}

test("a busy batcher waits for company, an idle one does not", async () => {
  const { submit, flushes } = openLingering(200);
  await submit(1); // idle: at once
  await submit(2); // it was alone: at once
  expect((flushes[1]?.at ?? 0) - (flushes[0]?.at ?? 0)).toBeLessThan(150);
  await Promise.all([submit(3), submit(4)]);
  const asked = [submit(5)];
  await new Promise((resolve) => setTimeout(resolve, 30));
  asked.push(submit(6), submit(7));
  await Promise.all(asked);
  expect(flushes.map(({ rows }) => rows)).toEqual([1, 1, 2, 3]);
  expect((flushes[3]?.at ?? 0) - (flushes[2]?.at ?? 0)).toBeGreaterThan(190);
});

test("sixteen rows wait no longer, nor does anything once its batcher is to be idle", async () => {
  const { submit, flushes } = openLingering(60_000);
  await Promise.all([submit(1), submit(2)]);
  await Promise.all(Array.from({ length: 16 }, (_, index) => submit(index)));
  const late = submit(3);
  await submit.idle();
  expect(await late).toBe(3);
  const second = openLingering(60_000);
  const asked = [second.submit(1), second.submit(2)];
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  asked.push(second.submit(3)); // under way already: who waits for idleness comes first
  await second.submit.idle();
  await Promise.all(asked);
  expect(flushes.map(({ rows }) => rows)).toEqual([2, 16, 1]);
  expect(second.flushes.map(({ rows }) => rows)).toEqual([2, 1]);
});

test("an item's time counts from its arrival, not from its own first flush", async () => {
  const submit = createGroupCommit<number, number, number>({
    op: "accept", merge: ([only]) => only, giveUpMs: 200,
    flush: async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      throw new StatementTimeout("runs.accept", 300);
    },
  });
  const began = performance.now();
  const first = submit(1).catch(() => performance.now() - began);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const second = submit(2).catch(() => performance.now() - began);
  expect(await first).toBeLessThan(500);
  expect(await second).toBeLessThan(800); // it waited out one flush and failed with its own
});

test("tries after contention come ever later, each after its own chance, and end after the time to give up", async () => {
  const gapsOf = async () => {
    const tries: number[] = [];
    const submit = createGroupCommit<number, number, number>({
      op: "claim", merge: ([only]) => only, giveUpMs: 700,
      flush: () => { tries.push(performance.now()); return Promise.reject(Object.assign(new Error("refused"), { code: "40001" })); },
    });
    await expect(submit(1)).rejects.toThrow("refused");
    return tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  };
  const [one, other] = await Promise.all([gapsOf(), gapsOf()]);
  expect(one.length).toBeGreaterThan(2);
  expect(one.length).toBeLessThan(12);
  expect(one.at(-1)).toBeGreaterThan(5 * (one[0] ?? 0));
  expect(one.map(Math.round)).not.toEqual(other.map(Math.round));
});
