import type { CliConfig, FleetConfig } from "../config.js";

/** What the rules look at: a whole configuration, with the sizes where a role has them. */
export type Ruled = (FleetConfig | CliConfig) & { redisUrl?: string | undefined; bodyMaxBytes?: number; inputMaxBytes?: number };
