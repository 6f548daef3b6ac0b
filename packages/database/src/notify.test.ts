import { afterEach, expect, test, vi } from "vitest";
import type { Queryable } from "./database.js";
import { createHint } from "./notify.js";

afterEach(() => { vi.useRealTimers(); });

/** A hint over a database that answers at once, and the channels told, in order. */
function openHint() {
  vi.useFakeTimers();
  const told: unknown[] = [];
  const db: Queryable = { query: (_statement, [channel]) => { told.push(channel); return Promise.resolve([]); } };
  return { hint: createHint(db), told };
}

test("what is soon enough later is told later, with all that was told so", async () => {
  const { hint, told } = openHint();
  hint("log", 20);
  hint("log", 20);
  await vi.advanceTimersByTimeAsync(19);
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(told).toEqual(["log"]);
});

test("what is told at once takes along what would have been told later", async () => {
  const { hint, told } = openHint();
  hint("log", 20);
  hint("log");
  expect(told).toEqual(["log"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toEqual(["log"]);
});

test("what is told within the gap is told once more after it", async () => {
  const { hint, told } = openHint();
  hint("log");
  await vi.advanceTimersByTimeAsync(1);
  hint("log");
  hint("log");
  await vi.advanceTimersByTimeAsync(15);
  expect(told).toEqual(["log"]);
  await vi.advanceTimersByTimeAsync(30);
  expect(told).toEqual(["log", "log"]);
});
