import { expect, test } from "vitest";
import { createLogger, type LogLevel } from "./create-logger.js";
import { logEvents } from "./log-events.js";

function lines(level: LogLevel = "info") {
  const written: Record<string, unknown>[] = [];
  const logger = createLogger({
    role: "worker", incarnation: "i-1", level,
    sink: { write: (line) => { written.push(JSON.parse(line) as Record<string, unknown>); } },
  });
  return { logger, written };
}

test("a line is one JSON object with time, level, role, incarnation, the event and its fields", () => {
  const { logger, written } = lines();
  logger.info(logEvents.processReady, { port: 8080, url: "http://127.0.0.1" });
  expect(written).toEqual([{
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string, level: "info", role: "worker", incarnation: "i-1",
    msg: "process ready", port: 8080, url: "http://127.0.0.1",
  }]);
});

test("what is less severe than the level is not written", () => {
  const { logger, written } = lines("warn");
  logger.debug(logEvents.runClaimed);
  logger.info(logEvents.runClaimed);
  logger.warn(logEvents.brokerDown);
  logger.error(logEvents.brokerError);
  expect(written.map((line) => line["level"])).toEqual(["warn", "error"]);
  expect([logger.writes("info"), logger.writes("warn")]).toEqual([false, true]);
});

test("a child's fields stand on each of its lines and on no other", () => {
  const { logger, written } = lines();
  logger.child({ runId: "r-1" }).info(logEvents.runClaimed, { fence: "7" });
  logger.info(logEvents.processReady);
  expect(written[0]).toMatchObject({ runId: "r-1", fence: "7" });
  expect(written[1]).not.toHaveProperty("runId");
});

test("an error is printed with type, code, stack and causes", () => {
  const { logger, written } = lines();
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  logger.error(logEvents.processCrashed, { err: new TypeError("broken", { cause }) });
  expect(written[0]?.["err"]).toMatchObject({
    type: "TypeError", message: "broken", stack: expect.stringContaining("create-logger.test") as string,
    cause: { type: "Error", code: "ECONNREFUSED", message: "refused" },
  });
});

test("secrets are masked wherever they stand, and payload fields are never printed", () => {
  const { logger, written } = lines();
  const secrets = ["s3cretpass", "abcDEF123secret", "eyJhbGciOi.J9.sig", "MC4CAQAwBQYDK2Vw"];
  logger.error(logEvents.processCrashed, {
    url: `postgres://app:${secrets[0] ?? ""}@db/mainstay`,
    text: `the key mst_k1_${secrets[1] ?? ""} and Bearer ${secrets[2] ?? ""}`,
    list: [`redis://:${secrets[0] ?? ""}@r`],
    err: new Error(`-----BEGIN PRIVATE KEY-----\n${secrets[3] ?? ""}\n-----END PRIVATE KEY-----`, { cause: new Error(`mst_k1_${secrets[1] ?? ""}`) }),
    password: "plain", input: "payload", Authorization: "x",
  });
  const text = JSON.stringify(written);
  for (const secret of [...secrets, "plain", "payload"]) expect(text).not.toContain(secret);
  expect(text).toContain("mst_k1_[redacted]");
});

test("a field that cannot be looked through becomes a placeholder and the line is written", () => {
  const { logger, written } = lines();
  const hostile = new Error("x");
  Object.defineProperty(hostile, "message", { get: () => { throw new Error("no"); } });
  logger.error(logEvents.processCrashed, { err: hostile, count: 1n });
  expect(written[0]).toMatchObject({ err: "[redacted]", count: "1" });
});

test("every event of the catalogue has a text of its own", () => {
  const texts = Object.values(logEvents);
  expect(new Set(texts).size).toBe(texts.length);
});
