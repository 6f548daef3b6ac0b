import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createHolds } from "./create-holds.js";

test("a hold ends by itself when its lease is over, and not while the lease is renewed", async () => {
  const holds = createHolds();
  holds.extend("release", performance.now() + 50);
  holds.extend("retention", performance.now() + 50);
  const [release, retention] = [holds.signalOf("release"), holds.signalOf("retention")];
  holds.extend("retention", performance.now() + 60_000);
  await sleep(100);
  expect([release?.aborted, retention?.aborted]).toEqual([true, false]);
  expect(holds.signalOf("release")).toBeUndefined();
  expect(holds.signalOf("retention")).toBe(retention);
  holds.end("retention");
  expect(retention?.aborted).toBe(true);
});

test("an answer that was read after its lease was over gives no hold, and ends the one there was", () => {
  const holds = createHolds();
  holds.extend("release", performance.now() + 60_000);
  const signal = holds.signalOf("release");
  holds.extend("release", performance.now() - 1);
  expect(signal?.aborted).toBe(true);
  expect(holds.signalOf("release")).toBeUndefined();
});
