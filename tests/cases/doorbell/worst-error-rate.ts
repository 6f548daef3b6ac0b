import type { FleetProcess } from "@mainstay/fleet";

/** The most warnings and errors that one process wrote within any second since `since` (epoch milliseconds). */
export function worstErrorRate(processes: readonly FleetProcess[], since = 0): { process: string; lines: number } {
  let worst = { process: "none", lines: 0 };
  for (const one of processes) {
    const times = one.lines().flatMap(({ event }) => {
      const at = Date.parse(String(event?.["time"]));
      return (event?.["level"] === "warn" || event?.["level"] === "error") && at >= since ? [at] : [];
    });
    times.forEach((at, first) => {
      const lines = times.slice(first).filter((other) => other - at < 1_000).length;
      if (lines > worst.lines) worst = { process: one.name, lines };
    });
  }
  return worst;
}
