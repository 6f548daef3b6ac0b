import { logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import type { Lane } from "./lane.js";

/** One tick of a lane: to its end, its deadline, or until the lane is no longer `held`. Answers whether it came through. Never rejects. */
export async function runLane(
  lane: Lane, { held, logger, metrics }: { held: AbortSignal; logger: Logger; metrics: Pick<Metrics, "laneItemFailures"> },
): Promise<boolean> {
  const deadline = new AbortController();
  const signal = AbortSignal.any([deadline.signal, held]);
  const began = performance.now();
  const timer = setTimeout(() => {
    deadline.abort();
    logger.warn(logEvents.laneTimedOut, { lane: lane.name, withinMs: lane.withinMs });
  }, lane.withinMs);
  const lost = (): void => { logger.warn(logEvents.laneLost, { lane: lane.name }); };
  held.addEventListener("abort", lost, { once: true });
  const itemFailed = (item: string, error: unknown): void => {
    metrics.laneItemFailures.inc({ lane: lane.name });
    logger.error(logEvents.laneItemFailed, { lane: lane.name, item, err: error instanceof Error ? error : new Error(String(error)) });
  };
  try {
    await lane.tick({ signal, itemFailed });
    logger.debug(logEvents.laneTicked, { lane: lane.name, ms: Math.round(performance.now() - began) });
    return !signal.aborted;
  } catch (error) {
    logger.error(logEvents.laneFailed, { lane: lane.name, err: error instanceof Error ? error : new Error(String(error)) });
    return false;
  } finally {
    clearTimeout(timer);
    held.removeEventListener("abort", lost);
  }
}
