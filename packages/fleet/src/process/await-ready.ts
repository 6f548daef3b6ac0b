import { setTimeout as sleep } from "node:timers/promises";
import type { FleetProcess, LogLine, StartedProcess } from "./fleet-process.js";
import type { Log } from "./keep-log.js";

/** How long to wait and where the process listens. */
export type ReadyOptions = Readonly<{
  /** Milliseconds; default 30,000. */
  readyWithinMs?: number;
  /** The address its probes are asked at; default 127.0.0.1. */
  host?: string;
}>;

/** The log event that names a process's port and incarnation, once it listens. */
const readyEvents: readonly unknown[] = ["process ready", "process.ready"];

/** Milliseconds between two questions to the probe. */
const askEveryMs = 25;

/**
 * Waits until the process has said where it listens and its readiness probe answers 200.
 *
 * @throws when it ends first or takes too long; the message carries its last lines. It is not killed here.
 */
export async function awaitReady(started: StartedProcess & { readonly log: Log }, options: ReadyOptions = {}): Promise<FleetProcess> {
  const { readyWithinMs = 30_000, host = "127.0.0.1" } = options;
  const giveUpAt = performance.now() + readyWithinMs;
  let place: { incarnation: string; port: number } | undefined;
  let answered = "it has not said where it listens";
  const stopHearing = started.onLine((line) => { place ??= readPlace(line); });
  for (const line of started.lines()) place ??= readPlace(line);
  try {
    for (;;) {
      const exit = started.exit();
      if (exit !== undefined) {
        throw new Error(`${started.name} was expected to become ready, it ended with ${exit.signal ?? `status ${String(exit.code)}`}. It wrote last:\n${started.log.tail()}`);
      }
      if (place !== undefined) {
        const url = `http://${host.includes(":") ? `[${host}]` : host}:${place.port}`;
        answered = await ask(`${url}/health/ready`);
        if (answered === "200") return Object.freeze({ ...started, ...place, url });
      }
      if (performance.now() > giveUpAt) {
        throw new Error(`${started.name} was expected to be ready within ${readyWithinMs} ms; its probe last said: ${answered}. It wrote last:\n${started.log.tail()}`);
      }
      await sleep(askEveryMs);
    }
  } finally {
    stopHearing();
  }
}

function readPlace({ event }: LogLine): { incarnation: string; port: number } | undefined {
  if (event === undefined || !readyEvents.includes(event["msg"])) return undefined;
  const { incarnation, port } = event;
  return typeof incarnation === "string" && typeof port === "number" ? { incarnation, port } : undefined;
}

async function ask(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    const body = await response.text();
    return response.status === 200 ? "200" : `${response.status} ${body.slice(0, 200)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
