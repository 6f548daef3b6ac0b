import type { SettleAnswer, Settlement } from "@mainstay/database";
import type { EffectParts, EffectRequest } from "./effect-parts.js";

/**
 * Writes evidence about one launch and counts it. `unclear`: this launch did not happen, but an earlier one may have; the
 * effect stays as it is.
 */
export async function settleEffect<Result>(parts: EffectParts, { options }: EffectRequest<Result>, settlement: Settlement): Promise<SettleAnswer["kind"]> {
  const { kind } = await parts.settle(settlement);
  if (kind === "contradicts") parts.onContradicted(settlement.effectId, settlement.runId);
  if (kind === "unclear") return kind;
  parts.onSettled(settlement.outcome, options.class ?? "non_idempotent_write");
  return kind;
}
