/** What repeating an effect would do to the outside world. */
export type EffectClass = "read_only" | "idempotent_write" | "non_idempotent_write";
/** What is known of the last launch of an effect. */
export type EffectState = "launched" | "confirmed" | "absent" | "unknown";
/** What the identity of an effect is made of, in the wire's words. */
export type Keying = "business-identity" | "activity-recipe";

/** What the ledger says of an identity, as read in one statement. */
export type RecordedEffect = {
  state: EffectState;
  class: EffectClass;
  launchNo: number;
  sameDigest: boolean;
  /** A positive, monotone fact: the claim that launched it is over (fence superseded, run ended, or incarnation dead). */
  holderGone: boolean;
  /** Database time has passed the quiet instant. */
  quiet: boolean;
  /** The destination still remembers the key. */
  keyRemembered: boolean;
  asks: number;
};

/** What a node that meets a recorded effect does next. */
export type EffectDecision =
  | { do: "reuse" }
  | { do: "conflict" }
  | { do: "relaunch" }
  /** Another live claim is at it: wait without holding a slot. */
  | { do: "wait" }
  /** Not before the quiet instant: an earlier "absent" would be no answer. */
  | { do: "wait_quiet" }
  | { do: "reconcile" }
  | { do: "give_up" };

/** Asks of one reconciliation before the run is buried as UNKNOWN. */
export const MAX_ASKS = 5;

/** Milliseconds before ask `asks + 1`: 1, 2, 4 … at most 60 s. */
export const askDelayMs = (asks: number): number => Math.min(60_000, 1000 * 2 ** Math.min(asks, 6));

/**
 * What a node that arrives at an identity already in the ledger must do. A recorded answer is reused for the same
 * request only; a launched, unsettled write is sent again only while the destination remembers the key; everything
 * else is asked about after the quiet instant, or given up as UNKNOWN. Rules H6, H7, H10, H12.
 */
export function decideEffect(recorded: RecordedEffect, { canAsk }: { canAsk: boolean }): EffectDecision {
  if (!recorded.sameDigest && recorded.state !== "absent") return { do: "conflict" };
  if (recorded.state === "confirmed") return { do: "reuse" };
  if (recorded.state === "absent") return { do: "relaunch" };
  if (recorded.state === "launched" && !recorded.holderGone) return { do: "wait" };
  if (recorded.class === "read_only") return { do: "relaunch" };
  if (recorded.class === "idempotent_write" && recorded.keyRemembered) return { do: "relaunch" };
  if (!recorded.quiet) return { do: "wait_quiet" }; // a late answer of the first sender may still settle it
  return canAsk && recorded.asks < MAX_ASKS ? { do: "reconcile" } : { do: "give_up" };
}

/** Spelled for the wire (`/effects`). */
export const wireEffectState = { launched: "claimed", confirmed: "completed", absent: "released", unknown: "escaped" } as const satisfies Record<EffectState, string>;
