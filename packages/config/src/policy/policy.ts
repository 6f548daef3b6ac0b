import { z } from "zod";

/** What an operator decides about the fleet as a whole, in `policy.yaml`. */
export const policySchema = z.strictObject({
  runtime: z.strictObject({
    stalled_run_escalation: z.strictObject({
      enabled: z.boolean().default(true),
      threshold_seconds: z.number().int().min(1).max(604_800).default(300),
    }).prefault({}),
    handler_retry_base_seconds: z.number().min(0.001).max(3_600).default(1),
  }).prefault({}),
});

/** The policy in the units of the code. */
export type Policy = Readonly<{
  /** Whether a run without progress raises `platform.run_stalled`. */
  stallEscalation: boolean;
  /** After how long without progress; above the largest recovery bound. */
  stallThresholdMs: number;
  /** First back-off of a failed node: this, twice, four times … */
  retryBaseMs: number;
}>;
