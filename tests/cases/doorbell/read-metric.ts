import type { FleetProcess } from "@mainstay/fleet";

/** The sum of a metric's series that bear all of `labels` (`reason="ticket"`), over living processes. */
export async function readMetric(processes: readonly FleetProcess[], name: string, labels: readonly string[] = []): Promise<number> {
  const texts = await Promise.all(processes.map(async ({ url }) => (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) })).text()));
  return texts.flatMap((text) => text.split("\n")).reduce((sum, line) => {
    const [, series = "", value = ""] = /^([a-z_]+(?:\{[^}]*\})?) (\S+)/.exec(line) ?? [];
    return (series === name || series.startsWith(`${name}{`)) && labels.every((label) => series.includes(label)) ? sum + Number(value) : sum;
  }, 0);
}
