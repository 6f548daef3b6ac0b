import type { OverduePeer } from "@mainstay/database";

/** One heartbeat's answer: the instants around it on the own monotonic clock, and the peers it reported. */
export type Sighting = { sentMs: number; answeredMs: number; overdue: readonly OverduePeer[] };

/** A peer that may be lapsed from `atMs` on, if its beat number is still the one that was seen. */
export type Suspect = { id: string; beatNo: string; atMs: number };

export type Witness = {
  /** Takes a heartbeat's answer; tells every silent peer and from when on it may be lapsed. */
  note: (sighting: Sighting) => readonly Suspect[];
  /** The connection is a new one: everything seen before counts for nothing. */
  forget: () => void;
};

/** How much later than it can be explained an age may be before the database's clock is held to have been set. */
const SLACK_MS = 250;

/**
 * Rule H9: a peer may be lapsed only by who has seen its beat number unchanged for two heartbeats on the own monotonic
 * clock since the own last (re)connection.
 *
 * The database's clock says how old a beat is. When that age cannot be — the peer was not overdue a heartbeat ago, or
 * its beat lies in the future — the clock was set, the age says nothing, and the peer must be seen silent for its
 * whole lease.
 */
export function createWitness({ heartbeatMs }: { heartbeatMs: number }): Witness {
  let seen = new Map<string, Suspect>();
  let lastSentMs: number | undefined;
  return {
    note: ({ sentMs, answeredMs, overdue }) => {
      const next = new Map<string, Suspect>();
      for (const peer of overdue) {
        const known = seen.get(peer.id);
        if (known?.beatNo === peer.beatNo) { next.set(peer.id, known); continue; }
        const listedFrom = Math.max(0, peer.leaseMs - 2 * heartbeatMs);
        const oldest = lastSentMs === undefined ? Infinity : listedFrom + (answeredMs - lastSentMs) + SLACK_MS;
        const plausible = peer.ageMs >= 0 && peer.ageMs <= oldest;
        const silenceMs = plausible ? Math.max(2 * heartbeatMs, peer.leaseMs - peer.ageMs) : Math.max(2 * heartbeatMs, peer.leaseMs);
        next.set(peer.id, { id: peer.id, beatNo: peer.beatNo, atMs: answeredMs + silenceMs });
      }
      seen = next;
      lastSentMs = sentMs;
      return [...next.values()];
    },
    forget: () => {
      seen = new Map();
      lastSentMs = undefined;
    },
  };
}
