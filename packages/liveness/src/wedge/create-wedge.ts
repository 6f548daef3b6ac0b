export type Wedge = {
  /** True while the work path has not been attested for `wedgedAfterMs` of time that counts. */
  wedged: (nowMs: number, attestedMs: number) => boolean;
  /** Time in which nobody could attest (the database was away, the whole process stood still) does not count. */
  excuse: (ms: number) => void;
};

/** Rule H26: how long main may leave its work path unattested before the heartbeat is withheld. */
export function createWedge({ wedgedAfterMs }: { wedgedAfterMs: number }): Wedge {
  let attested = -Infinity;
  let excusedMs = 0;
  return {
    wedged: (nowMs, attestedMs) => {
      if (attestedMs !== attested) { attested = attestedMs; excusedMs = 0; }
      return nowMs - attestedMs - excusedMs > wedgedAfterMs;
    },
    excuse: (ms) => { excusedMs += ms; },
  };
}
