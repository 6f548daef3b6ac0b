import { isTerminalEvent, type RunEvent } from "@mainstay/contract";
import { WaitedTooLong } from "./client-error.js";
import type { RunResult, RunsClient } from "./runs-client.js";

/** The longest single poll, in seconds. */
const longestPollS = 30;

/**
 * Polls a run's log until its terminal event.
 *
 * @throws WaitedTooLong after `timeoutMs` (default five minutes); the run goes on.
 */
export async function awaitResult(
  runs: Pick<RunsClient, "poll">,
  runId: string,
  options: Readonly<{ timeoutMs?: number; signal?: AbortSignal }>,
): Promise<RunResult> {
  const timeoutMs = options.timeoutMs ?? 300_000;
  const giveUpAt = performance.now() + timeoutMs;
  let after: number | undefined;
  for (;;) {
    const leftMs = giveUpAt - performance.now();
    if (leftMs <= 0) throw new WaitedTooLong(runId, timeoutMs);
    const timeoutS = Math.min(longestPollS, Math.max(1, Math.floor(leftMs / 1_000)));
    const page = await runs.poll(runId, {
      timeoutS,
      ...(after === undefined ? {} : { afterSequence: after }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const end = page.events.find((event) => isTerminalEvent(event.type));
    if (end !== undefined) return toResult(end);
    if (page.lastSequence >= 0) after = page.lastSequence;
  }
}

function toResult(end: RunEvent): RunResult {
  if (end.type === "run.completed") return { runId: end.runId, status: "completed", outputs: end.payload.outputs };
  if (end.type === "run.failed") return { runId: end.runId, status: "failed", error: end.payload.error };
  return { runId: end.runId, status: "cancelled" };
}
