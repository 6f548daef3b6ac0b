import { expect, test } from "vitest";
import { createRest } from "./rest.js";

async function taken(rest: ReturnType<typeof createRest>, ms: number): Promise<number> {
  const from = performance.now();
  await rest.take(ms);
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

test("once stopped there is no rest", async () => {
  const rest = createRest();
  setTimeout(rest.stop, 20);
  expect(await taken(rest, 5_000)).toBeLessThan(1_000);
  expect(rest.stopped()).toBe(true);
  expect(await taken(rest, 5_000)).toBeLessThan(1_000);
});
