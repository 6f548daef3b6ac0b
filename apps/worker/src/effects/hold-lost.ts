import type { EffectParts, EffectRequest } from "./effect-parts.js";
import { HoldLost } from "./interrupts.js";

/** A peer holds the run: counted, and thrown by who asked the ledger. */
export function holdLost<Result>(parts: EffectParts, { key, run }: EffectRequest<Result>): HoldLost {
  parts.onFenced("effect", run.wireId);
  return new HoldLost(`effect ${key}: a peer holds the run`);
}
