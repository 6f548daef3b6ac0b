/**
 * Passes at most `perSecond` reports on within any second. The first one that
 * passes again also tells how many were left out, so that an outage fills no
 * disk.
 */
export function limitReports(
  report: (error: Error, suppressed: number) => void,
  { perSecond, now = () => performance.now() }: { perSecond: number; now?: () => number },
): (error: unknown) => void {
  const passed: number[] = [];
  let suppressed = 0;
  return (thrown) => {
    const at = now();
    while (passed[0] !== undefined && at - passed[0] >= 1_000) passed.shift();
    if (passed.length >= perSecond) {
      suppressed += 1;
      return;
    }
    passed.push(at);
    const leftOut = suppressed;
    suppressed = 0;
    report(thrown instanceof Error ? thrown : new Error(String(thrown)), leftOut);
  };
}
