import type { LogFields } from "./redact-fields.js";

/**
 * Passes at most `perSecond` lines on within any second, so that an outage fills no disk. The first one that passes again
 * bears `suppressed`: how many were left out.
 */
export function limitLines(
  write: (fields: LogFields) => void, { perSecond, now = () => performance.now() }: { perSecond: number; now?: () => number },
): (fields: LogFields) => void {
  const passed: number[] = [];
  let suppressed = 0;
  return (fields) => {
    const at = now();
    while (passed[0] !== undefined && at - passed[0] >= 1_000) passed.shift();
    if (passed.length >= perSecond) {
      suppressed += 1;
      return;
    }
    passed.push(at);
    const leftOut = suppressed;
    suppressed = 0;
    write(leftOut > 0 ? { ...fields, suppressed: leftOut } : fields);
  };
}
