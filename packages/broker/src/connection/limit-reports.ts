/**
 * Passes at most `perSecond` reports on in any second. The first one of a later
 * second also tells how many were left out, so that an outage fills no disk.
 */
export function limitReports(
  report: (error: Error, suppressed: number) => void,
  { perSecond, now = () => performance.now() }: { perSecond: number; now?: () => number },
): (error: unknown) => void {
  let windowStart = Number.NEGATIVE_INFINITY;
  let passed = 0;
  let suppressed = 0;
  return (thrown) => {
    const at = now();
    if (at - windowStart >= 1_000) {
      windowStart = at;
      passed = 0;
    }
    if (passed >= perSecond) {
      suppressed += 1;
      return;
    }
    passed += 1;
    const leftOut = suppressed;
    suppressed = 0;
    report(thrown instanceof Error ? thrown : new Error(String(thrown)), leftOut);
  };
}
