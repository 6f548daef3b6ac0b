import { readLogs } from "./read-logs.js";
import type { Watched } from "./watched.js";

/** Places that hold a canary or the key's secret and may not: logs, metrics, reasons. The canary itself is not repeated. */
export async function findSecrets({ fleet, canaries }: Watched): Promise<readonly string[]> {
  const secrets = [...canaries, fleet.key.slice(fleet.key.lastIndexOf("_") + 1), fleet.key].filter((text) => text.length >= 8);
  const holds = (text: string): boolean => secrets.some((secret) => text.includes(secret));
  const found: string[] = [];
  for await (const { process: name, text } of readLogs(fleet.logFolder)) {
    if (holds(text)) found.push(`a canary in the log of ${name}: ${/"msg":"[^"]*"/.exec(text)?.[0] ?? "plain text"}`);
  }
  for (const one of fleet.fleet.processes().filter((each) => each.exit() === undefined)) {
    const text = await fetch(`${one.url}/metrics`, { signal: AbortSignal.timeout(5_000) }).then((answer) => answer.text(), () => "");
    if (holds(text)) found.push(`a canary in the metrics of ${one.name}`);
  }
  const reasons = await fleet.sql<{ place: string; text: string }>(
    `select 'dead_letters.reason' as place, reason as text from dead_letters
     union all select 'runs.waiting_reason', waiting_reason from runs where waiting_reason is not null`,
  );
  return [...found, ...reasons.filter(({ text }) => holds(text)).map(({ place }) => `a canary in ${place}`)];
}
