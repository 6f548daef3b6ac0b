import type { Settlement } from "@mainstay/database";
import { recordable } from "../nodes/recordable.js";
import type { EffectParts, EffectRequest, LaunchRef } from "./effect-parts.js";
import { settleEffect } from "./settle-effect.js";

/** An answer, as recorded. Bytes. */
const ANSWER_MAX_BYTES = 256 * 1024;

/**
 * Settles as confirmed and gives the answer as it is recorded. An answer that cannot be recorded leaves the effect
 * confirmed without one and throws: it did happen, and nobody is to send it again.
 */
export async function confirmEffect<Result>(
  parts: EffectParts, request: EffectRequest<Result>, { answer, ...evidence }: LaunchRef & Pick<Settlement, "via" | "answer">,
): Promise<Result> {
  const read = (): { recorded: unknown } | { refused: unknown } => {
    try {
      return { recorded: recordable(answer, ANSWER_MAX_BYTES).value };
    } catch (refused) {
      return { refused };
    }
  };
  const seen = read();
  await settleEffect(parts, request, { ...evidence, outcome: "confirmed", ...("recorded" in seen ? { answer: seen.recorded } : {}) });
  request.execution.openUnsafe.delete(evidence.effectId);
  if ("refused" in seen) throw seen.refused;
  return seen.recorded as Result;
}
