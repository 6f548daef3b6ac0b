export type Wedge = {
  /** True while the work path has not been attested for `wedgedAfterMs` of time that counts. */
  wedged: (nowMs: number, attestedMs: number) => boolean;
  /**
   * Time in which nobody could attest (the database was away, the whole process stood still) does not count. What was
   * attested meanwhile or before may be told later: only what lies behind the attestation is excused.
   */
  excuse: (time: { fromMs: number; toMs: number }) => void;
};

/** Rule H26: how long main may leave its work path unattested before the heartbeat is withheld. */
export function createWedge({ wedgedAfterMs }: { wedgedAfterMs: number }): Wedge {
  let excused: readonly { fromMs: number; toMs: number }[] = [];
  return {
    wedged: (nowMs, attestedMs) => {
      excused = excused.filter(({ toMs }) => toMs > attestedMs);
      const excusedMs = excused.reduce((sum, { fromMs, toMs }) => sum + toMs - Math.max(fromMs, attestedMs), 0);
      return nowMs - attestedMs - excusedMs > wedgedAfterMs;
    },
    excuse: ({ fromMs, toMs }) => {
      const from = Math.max(fromMs, excused.at(-1)?.toMs ?? -Infinity); // the same time is excused once
      if (toMs > from) excused = [...excused, { fromMs: from, toMs }];
    },
  };
}
