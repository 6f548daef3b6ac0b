export { readConfig } from "./read-config.js";
export { ConfigError } from "./config-error.js";
export { recoveryBounds, type BoundSettings, type RecoveryBound } from "./bounds/recovery-bounds.js";
export { attemptBound, type AttemptBound, type AttemptSettings } from "./bounds/attempt-bound.js";
export { parsePolicy, readPolicy, type PolicyRead } from "./policy/read-policy.js";
export type { Policy } from "./policy/policy.js";
export { configReference } from "./reference/config-reference.js";
export type { Environment, Role } from "./settings/setting.js";
export type {
  ApiConfig, BrokerConfig, CliConfig, ConfigOf, FleetConfig, RelayConfig, SupervisorConfig, WorkerConfig,
} from "./config.js";
export { releaseLimits } from "./limits/release-limits.js";
export { databaseOptions } from "./places/database-options.js";
