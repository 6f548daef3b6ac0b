import { expect, test } from "vitest";
import { mintRunId } from "./mint-run-id.js";

test("ids of runs are uuids of version 7 of this instant, each its own, and rise", () => {
  const before = Date.now();
  const ids = Array.from({ length: 5_000 }, mintRunId);
  const after = Date.now();
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const at = Number.parseInt(id.replace("-", "").slice(0, 12), 16);
    expect(at >= before && at <= after).toBe(true);
  }
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids.map((id) => id.slice(-10))).size).toBe(ids.length); // the random part is not used twice
});
