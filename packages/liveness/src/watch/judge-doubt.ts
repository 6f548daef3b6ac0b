import type { Doubt } from "@mainstay/database";

/** `gone`: it has lapsed or ended, others see to it. `undecided`: the witness itself may be the one that is cut off. */
export type Verdict = "suspected" | "cleared" | "gone" | "undecided";

/**
 * What a freed lifeline means after the grace. A peer is suspected only if none of its sessions stands, the witness'
 * own session stayed whole, and fewer than half of all lifelines are free: else it is the database or the network that
 * went, not the peer.
 */
export function judgeDoubt({ live, connected, whole, lifelines, free }: Doubt & { whole: boolean }): Verdict {
  if (!live) return "gone";
  if (connected) return "cleared";
  return whole && free * 2 < lifelines ? "suspected" : "undecided";
}
