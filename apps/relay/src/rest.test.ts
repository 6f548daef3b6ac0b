import { expect, test } from "vitest";
import { createRest } from "./rest.js";

async function taken(rest: ReturnType<typeof createRest>, ms: number, leastMs?: number): Promise<number> {
  const from = performance.now();
  await rest.take(ms, leastMs);
  return performance.now() - from;
}

test("a rest lasts its time, or until it is ended", async () => {
  const rest = createRest();
  expect(await taken(rest, 50)).toBeGreaterThan(40);
  setTimeout(rest.end, 20);
  expect(await taken(rest, 5_000)).toBeLessThan(1_000);
});

test("a hint that came while the loop worked ends the next rest, and only that one", async () => {
  const rest = createRest();
  rest.end();
  rest.end();
  expect(await taken(rest, 5_000)).toBeLessThan(1_000);
  expect(await taken(rest, 50)).toBeGreaterThan(40);
});

test("a hint does not end the least part of a rest, nor is it lost there", async () => {
  const rest = createRest();
  rest.end();
  const early = await taken(rest, 5_000, 50);
  expect(early).toBeGreaterThan(40);
  expect(early).toBeLessThan(1_000);
  setTimeout(rest.end, 10);
  const meanwhile = await taken(rest, 5_000, 100);
  expect(meanwhile).toBeGreaterThan(90);
  expect(meanwhile).toBeLessThan(1_000);
  setTimeout(rest.stop, 10);
  expect(await taken(rest, 5_000, 5_000)).toBeLessThan(1_000);
});

test("once stopped there is no rest", async () => {
  const rest = createRest();
  setTimeout(rest.stop, 20);
  expect(await taken(rest, 5_000)).toBeLessThan(1_000);
  expect(rest.stopped()).toBe(true);
  expect(await taken(rest, 5_000)).toBeLessThan(1_000);
});
