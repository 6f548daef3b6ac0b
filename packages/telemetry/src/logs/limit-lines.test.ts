import { expect, test } from "vitest";
import { limitLines } from "./limit-lines.js";
import type { LogFields } from "./redact-fields.js";

test("at most so many lines a second pass, and the next second's first one tells how many did not", () => {
  const seen: LogFields[] = [];
  let now = 0;
  const write = limitLines((fields) => seen.push(fields), { perSecond: 5, now: () => now });
  for (let line = 0; line < 12; line += 1) write({ line });
  expect(seen).toEqual([0, 1, 2, 3, 4].map((line) => ({ line })));
  now = 1_000;
  write({ line: 12 });
  write({ line: 13 });
  expect(seen.slice(5)).toEqual([{ line: 12, suppressed: 7 }, { line: 13 }]);
});
