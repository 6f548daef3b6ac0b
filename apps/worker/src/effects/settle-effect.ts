import type { Settlement } from "@mainstay/database";
import type { EffectParts, EffectRequest } from "./effect-parts.js";

/** Writes evidence about one launch and counts it. */
export async function settleEffect<Result>(parts: EffectParts, { options }: EffectRequest<Result>, settlement: Settlement): Promise<void> {
  await parts.settle(settlement);
  parts.onSettled(settlement.outcome, options.class ?? "non_idempotent_write");
}
