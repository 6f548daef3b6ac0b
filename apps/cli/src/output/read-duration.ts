import { InvalidArgumentError } from "commander";

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads `500ms`, `30s`, `5m`, `12h` or `90d` as milliseconds. Throws commander's own error on anything else. */
export function readDuration(text: string): number {
  const [, number, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (number === undefined || unit === undefined) throw new InvalidArgumentError("Expected a duration such as 500ms, 30s, 5m, 12h or 90d.");
  return Number(number) * units[unit as keyof typeof units];
}
