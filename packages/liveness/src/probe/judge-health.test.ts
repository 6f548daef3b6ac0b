import { expect, test } from "vitest";
import { judgeLive, judgeReady } from "./judge-health.js";

const healthy = { nowMs: 100_000, loopedMs: 99_500, validUntilMs: 102_000, begun: true, lost: false };

test("a main loop that stands still for 20 s is live, for a minute it is not", () => {
  expect(judgeLive({ ...healthy, loopedMs: 80_000 }, 10_000).status).toBe(200);
  expect(judgeLive({ ...healthy, loopedMs: 40_000 }, 10_000).status).toBe(503);
});

test("a database that is away leaves a process live and makes it not ready", () => {
  const away = { ...healthy, validUntilMs: 90_000 };
  expect(judgeLive(away, 10_000).status).toBe(200);
  expect(judgeReady(away)).toMatchObject({ status: 503 });
});

test("a healthy process is asked itself whether it is ready", () => {
  expect(judgeReady(healthy)).toBeUndefined();
  expect(judgeReady({ ...healthy, lost: true })?.body).toContain("lapsed");
  expect(judgeReady({ ...healthy, begun: false })?.body).toContain("not begun");
});
