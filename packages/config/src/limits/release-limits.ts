import type { FleetConfig } from "../config.js";

/** What the statements that take a run from its holder are told: when a loss is charged, and when it buries the run. */
export function releaseLimits(
  { crashLimit, lossLimit, handBackLimit, policy, retentionDays }: Pick<FleetConfig, "crashLimit" | "lossLimit" | "handBackLimit" | "policy" | "retentionDays">,
): { crashLimit: number; lossLimit: number; handBackLimit: number; backoffBaseMs: number; retentionDays: number } {
  return { crashLimit, lossLimit, handBackLimit, backoffBaseMs: policy.retryBaseMs, retentionDays };
}
