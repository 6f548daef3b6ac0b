import { expect, test } from "vitest";
import { limitReports } from "./limit-reports.js";

test("at most ten reports a second pass, and the next second's first one tells how many did not", () => {
  const seen: [string, number][] = [];
  let now = 0;
  const report = limitReports((error, suppressed) => seen.push([error.message, suppressed]), { perSecond: 10, now: () => now });
  for (let at = 0; at < 25; at += 1) report(new Error(`e${at}`));
  expect(seen).toHaveLength(10);
  now = 1_000;
  report("no error");
  expect(seen.at(-1)).toEqual(["no error", 15]);
});
