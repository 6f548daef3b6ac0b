import { readConfig, releaseLimits, type WorkerConfig } from "@mainstay/config";

/** The settings of the simulated fleet: the defaults, with fewer slots, shorter graces and rarer sweeps, so that bounds are met often and few steps change nothing. */
export const fleetSettings = {
  DATABASE_URL: "postgres://sim@127.0.0.1/sim", REDIS_URL: "redis://127.0.0.1:1", MAINSTAY_SLOTS: "3", MAINSTAY_DRAIN_MS: "3000", MAINSTAY_CANCEL_GRACE_MS: "1000",
  MAINSTAY_WEDGED_AFTER_MS: "4000", MAINSTAY_HANDBACK_LIMIT: "6", MAINSTAY_LOSS_LIMIT: "6", MAINSTAY_SWEEP_MS: "800",
} as const;

export const workerConfig = (broker: "redis" | "none"): WorkerConfig => readConfig("worker", { ...fleetSettings, MAINSTAY_BROKER: broker });

export const limitsOf = (config: WorkerConfig) => ({ ...releaseLimits(config), backoffBaseMs: 500 });
