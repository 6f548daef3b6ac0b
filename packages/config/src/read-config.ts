import type { ConfigOf } from "./config.js";
import { ConfigError } from "./config-error.js";
import { readPolicy } from "./policy/read-policy.js";
import { brokenRules } from "./rules/broken-rules.js";
import type { Ruled } from "./rules/ruled.js";
import { readSettings } from "./settings/read-settings.js";
import { settings } from "./settings/settings.js";
import type { Environment, Role } from "./settings/setting.js";
import { version } from "./version.js";

/**
 * Reads the settings of one role from `env`, once, at the door of a process.
 * The answer is frozen and complete: defaults are filled in, and every rule
 * that spans settings holds.
 *
 * Throws one `ConfigError` naming every wrong variable and broken rule. Rules
 * are judged only when each variable can be read.
 */
export function readConfig<R extends Role>(role: R, env: Environment): ConfigOf[R] {
  const read = readSettings(settings, env);
  if (!read.ok) throw new ConfigError(role, read.problems);
  const { values } = read;
  const policy = readPolicy(values.policyFile);
  const problems = policy.ok ? [] : [...policy.problems];

  if (values.databaseUrl === undefined && role !== "cli") {
    problems.push("DATABASE_URL: expected a URL that starts with postgres:// or postgresql://, it is not set");
  }
  if (values.broker === "redis" && values.redisUrl === undefined && (role === "relay" || role === "worker")) {
    problems.push("REDIS_URL: expected a URL that starts with redis:// while MAINSTAY_BROKER is redis, it is not set; set it, or MAINSTAY_BROKER=none");
  }
  if (!policy.ok) throw new ConfigError(role, problems);

  const { sweepMs: sweepSetting, apiUrl, apiKey, canary, protocolV1, ...shared } = values;
  const sweepMs = sweepSetting ?? (values.broker === "none" ? 200 : 500);
  const production = values.env === "production";
  const config = {
    ...shared,
    databaseDirectUrl: values.databaseDirectUrl ?? values.databaseUrl,
    redisUrl: values.broker === "redis" ? values.redisUrl : undefined,
    brokerPrefix: values.brokerPrefix ?? "{mainstay}",
    host: values.host ?? (production ? "0.0.0.0" : "127.0.0.1"),
    port: values.port ?? (role === "api" ? 8_080 : 0),
    pool: values.pool ?? "default",
    commit: values.commit ?? "unknown",
    version,
    egressAllow: Object.freeze([...values.egressAllow]),
    sweepMs,
    idleSweepMs: values.broker === "none" ? 10 * sweepMs : 4 * sweepMs,
    policy: policy.policy,
    ...(role === "cli" ? { apiUrl: apiUrl ?? "http://127.0.0.1:8080", apiKey } : {}),
    ...(role === "api" ? { protocolV1 } : {}),
    ...(role === "supervisor" ? { canary } : {}),
  };
  problems.push(...brokenRules(config as Ruled));
  if (problems.length > 0) throw new ConfigError(role, problems);
  // What a role must have has been checked above, name by name.
  return Object.freeze(config) as unknown as ConfigOf[R];
}
