import { readLogs } from "./read-logs.js";
import type { Watched } from "./watched.js";

const ending: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGKILL", "SIGABRT", "SIGSEGV"];

/** Processes that ended unasked, and what in any log is an error nobody handled: a crash, an answer 500, a bare stack, a warning of Node. */
export async function findUnaskedEnds({ fleet }: Watched): Promise<readonly string[]> {
  const unasked = fleet.fleet.processes().flatMap((one) => {
    const exit = one.exit();
    const asked = exit === undefined || one.asked().some((signal) => ending.includes(signal));
    return asked ? [] : [`${one.name} ended by itself with ${exit.signal ?? `status ${String(exit.code)}`}`];
  });
  const unhandled: string[] = [];
  for await (const { process: name, text } of readLogs(fleet.logFolder)) {
    if (isUnhandled(text)) unhandled.push(`${name} wrote ${text.slice(0, 300)}`);
  }
  return [...unasked, ...unhandled];
}

function isUnhandled(text: string): boolean {
  if (!text.startsWith("{")) return /(Error|Warning)\b|^\s+at .+:\d+|Unhandled/.test(text);
  if (!text.includes("process crashed") && !text.includes("request failed")) return false;
  try {
    const { msg, level } = JSON.parse(text) as { msg?: unknown; level?: unknown };
    return msg === "process crashed" || (msg === "request failed" && (level === "error" || level === 50));
  } catch {
    return false; // the killed process's last line
  }
}
