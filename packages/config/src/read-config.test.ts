import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigError } from "./config-error.js";
import { readConfig } from "./read-config.js";
import type { Environment, Role } from "./settings/setting.js";

const least: Environment = { DATABASE_URL: "postgres://db/mainstay", REDIS_URL: "redis://broker" };
let folder = "";
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), "mainstay-config-")); });
afterAll(() => { rmSync(folder, { recursive: true }); });

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function problems(role: Role, env: Environment): readonly string[] {
  try {
    readConfig(role, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("the defaults of a worker are those of the reference", () => {
  expect(readConfig("worker", least)).toMatchObject({
    env: "development", broker: "redis", redisUrl: "redis://broker", brokerPrefix: "{mainstay}", host: "127.0.0.1", port: 0, pool: "default",
    databaseUrl: "postgres://db/mainstay", databaseDirectUrl: "postgres://db/mainstay",
    heartbeatMs: 1_000, leaseMs: 3_000, sweepMs: 500, idleSweepMs: 2_000, auditMs: 2_000, wedgedAfterMs: 10_000, suspicionGraceMs: 100,
    effectMarginMs: 500, sendGraceMs: 250, dispatchBoundMs: 2_000, relayPollMs: 1_000, drainMs: 25_000, cancelGraceMs: 2_000,
    statementTimeoutMs: 2_000, idleTxTimeoutMs: 1_000, slots: 50, dbPool: 5, maxAttempts: 4, crashLimit: 5, handBackLimit: 20, lossLimit: 20,
    deathWatch: true, seams: false, egressAllow: [],
    policy: { stallEscalation: true, stallThresholdMs: 300_000, retryBaseMs: 1_000 },
  });
});

test("the api listens on 8080, everybody else on any free port, and production on every address", () => {
  expect(readConfig("api", least).port).toBe(8_080);
  expect(readConfig("supervisor", least).port).toBe(0);
  expect(readConfig("api", { ...least, MAINSTAY_PORT: "0" }).port).toBe(0);
  expect(readConfig("api", { ...least, MAINSTAY_ENV: "production" }).host).toBe("0.0.0.0");
});

test("a configuration is frozen, its lists included", () => {
  const config = readConfig("relay", { ...least, MAINSTAY_EGRESS_ALLOW: "10.0.0.0/8, ::1" });
  expect(Object.isFrozen(config) && Object.isFrozen(config.policy) && Object.isFrozen(config.egressAllow)).toBe(true);
  expect(config.egressAllow).toEqual(["10.0.0.0/8", "::1/128"]);
});

test("an empty variable is an unset one", () => {
  expect(readConfig("api", { ...least, MAINSTAY_PORT: "", MAINSTAY_LEASE_MS: "", MAINSTAY_SEAMS: "", DATABASE_DIRECT_URL: "" })).toMatchObject({
    port: 8_080, leaseMs: 3_000, seams: false, databaseDirectUrl: "postgres://db/mainstay",
  });
});

test("one error names every wrong variable and no value", () => {
  const secret = "hunter2";
  const wrong = problems("worker", {
    DATABASE_URL: `http://${secret}`, REDIS_URL: secret, MAINSTAY_LEASE_MS: secret, MAINSTAY_SLOTS: "0", MAINSTAY_SEAMS: secret,
    MAINSTAY_BROKER: secret, MAINSTAY_POOL: "Not A Pool", MAINSTAY_EGRESS_ALLOW: "10.0.0.0/33", MAINSTAY_PORT: "70000", MAINSTAY_SIGNING_KEY: secret,
  });
  expect(wrong.map((line) => line.split(":")[0])).toEqual([
    "DATABASE_URL", "MAINSTAY_BROKER", "REDIS_URL", "MAINSTAY_PORT", "MAINSTAY_POOL", "MAINSTAY_LEASE_MS", "MAINSTAY_SLOTS",
    "MAINSTAY_SIGNING_KEY", "MAINSTAY_SEAMS", "MAINSTAY_EGRESS_ALLOW",
  ]);
  expect(wrong.join("\n")).not.toContain(secret);
});

test.each(["1.5", "-1", "1e3", "0x10", " 5", "5ms", "99999999999999999999", "NaN"])("%s is no number of milliseconds", (text) => {
  expect(problems("api", { ...least, MAINSTAY_RELAY_POLL_MS: text })).toHaveLength(1);
});

test("a database is needed by every process, a broker by relay and worker, and neither by the command line", () => {
  for (const role of ["api", "supervisor"] as const) expect(problems(role, {})).toEqual([expect.stringContaining("DATABASE_URL")]);
  for (const role of ["relay", "worker"] as const) {
    expect(problems(role, {})).toEqual([expect.stringContaining("DATABASE_URL"), expect.stringContaining("REDIS_URL")]);
    expect(problems(role, { DATABASE_URL: "postgres://db/x", MAINSTAY_BROKER: "none" })).toEqual([]);
  }
  expect(readConfig("cli", {})).toMatchObject({ databaseUrl: undefined, apiUrl: "http://127.0.0.1:8080", apiKey: undefined });
});

test("without a broker the sweep is shorter while there is work, and rests longer while idle", () => {
  const config = readConfig("worker", { ...least, MAINSTAY_BROKER: "none" });
  expect(config).toMatchObject({ redisUrl: undefined, sweepMs: 200, idleSweepMs: 2_000 });
  expect(readConfig("worker", { ...least, MAINSTAY_SWEEP_MS: "100" })).toMatchObject({ sweepMs: 100, idleSweepMs: 400 });
});

test("a secret can stand in a file, its last line break is not part of it", () => {
  const path = file("database-url", "postgres://from-file/mainstay\n");
  expect(readConfig("api", { DATABASE_URL_FILE: path }).databaseUrl).toBe("postgres://from-file/mainstay");
  expect(readConfig("api", { DATABASE_URL: "", DATABASE_URL_FILE: path }).databaseUrl).toBe("postgres://from-file/mainstay");
});

test("a secret's file that is missing, empty, wrong or beside the variable is a problem", () => {
  expect(problems("api", { DATABASE_URL_FILE: join(folder, "missing") })).toEqual([expect.stringMatching(/DATABASE_URL_FILE: .*ENOENT/)]);
  expect(problems("api", { DATABASE_URL_FILE: file("empty", "\n") })).toEqual([expect.stringContaining("the file is empty")]);
  expect(problems("api", { DATABASE_URL_FILE: file("wrong", "mysql://x") })).toEqual([expect.stringContaining("DATABASE_URL: expected")]);
  expect(problems("api", { ...least, DATABASE_URL_FILE: file("both", "postgres://x/y") })).toEqual([expect.stringContaining("both are set")]);
});

test("a setting that is no secret has no file", () => {
  expect(readConfig("api", { ...least, MAINSTAY_POOL_FILE: file("pool", "other") }).pool).toBe("default");
});

test.each([
  ["a lease below three heartbeats", { MAINSTAY_HEARTBEAT_MS: "1001" }, "3 × MAINSTAY_HEARTBEAT_MS 1001 = 3003"],
  ["time-outs above the lease", { MAINSTAY_STATEMENT_TIMEOUT_MS: "2001" }, "must not exceed MAINSTAY_LEASE_MS 3000"],
  ["an effect margin as long as the validity", { MAINSTAY_EFFECT_MARGIN_MS: "2000" }, "no effect could ever start"],
  ["wedged before two audits", { MAINSTAY_WEDGED_AFTER_MS: "3999" }, "2 × MAINSTAY_AUDIT_MS 2000 = 4000"],
  ["a pool below 3", { MAINSTAY_DB_POOL: "2" }, "MAINSTAY_DB_POOL 2 must be at least 3"],
  ["an input above the body", { MAINSTAY_BODY_MAX_BYTES: "200000" }, "must not exceed MAINSTAY_BODY_MAX_BYTES 200000"],
  ["a drain beyond the stall threshold", { MAINSTAY_DRAIN_MS: "299500" }, "300000 ms of class draining"],
  ["seams in production", { MAINSTAY_ENV: "production", MAINSTAY_SEAMS: "on" }, "MAINSTAY_SEAMS must be off"],
  ["a demo password in production", { MAINSTAY_ENV: "production", DATABASE_URL: "postgres://app:Postgres@db/x" }, "DATABASE_URL: a known demo value"],
])("%s is refused with the rule in the message", (_, env, message) => {
  expect(problems("api", { ...least, ...env })).toEqual([expect.stringContaining(message)]);
});

test("several broken rules are told at once", () => {
  expect(problems("api", { ...least, MAINSTAY_LEASE_MS: "1000", MAINSTAY_DB_POOL: "1" })).toHaveLength(4);
});

test("policy.yaml is read, and its stall threshold is held against the bounds", () => {
  const path = file("policy.yaml", "runtime:\n  stalled_run_escalation: { enabled: false, threshold_seconds: 60 }\n  handler_retry_base_seconds: 0.05\n");
  expect(readConfig("worker", { ...least, MAINSTAY_POLICY_FILE: path }).policy).toEqual({ stallEscalation: false, stallThresholdMs: 60_000, retryBaseMs: 50 });
  const short = file("short.yaml", "runtime: { stalled_run_escalation: { threshold_seconds: 25 } }\n");
  expect(problems("worker", { ...least, MAINSTAY_POLICY_FILE: short })).toEqual([expect.stringContaining("threshold_seconds 25 must exceed")]);
});

test("a policy file that is missing, no YAML or has unknown keys is a problem beside the others", () => {
  expect(problems("api", { MAINSTAY_POLICY_FILE: join(folder, "none.yaml") })).toEqual([
    expect.stringMatching(/MAINSTAY_POLICY_FILE: .*ENOENT/), expect.stringContaining("DATABASE_URL"),
  ]);
  expect(problems("api", { ...least, MAINSTAY_POLICY_FILE: file("bad.yaml", "runtime: [") })).toEqual([expect.stringContaining("policy.yaml")]);
  expect(problems("api", { ...least, MAINSTAY_POLICY_FILE: file("unknown.yaml", "runtime: { threshold: 3 }") })).toEqual([
    expect.stringContaining("policy.yaml, runtime"),
  ]);
});

test("a pooler in transaction mode needs a direct address beside it", () => {
  const pooled = { ...least, MAINSTAY_DATABASE_POOLER: "transaction" };
  expect(problems("api", pooled)).toEqual([expect.stringContaining("DATABASE_DIRECT_URL must be set")]);
  expect(problems("api", { ...pooled, DATABASE_DIRECT_URL: least.DATABASE_URL })).toHaveLength(1);
  expect(readConfig("api", { ...pooled, DATABASE_DIRECT_URL: "postgres://direct/mainstay" })).toMatchObject({ databasePooler: "transaction" });
});
