import { logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import type { Lane } from "./lane.js";

/** One tick of a lane, to its end or its deadline. Answers whether it came through. Never rejects. */
export async function runLane(lane: Lane, { logger, metrics }: { logger: Logger; metrics: Pick<Metrics, "laneItemFailures"> }): Promise<boolean> {
  const deadline = new AbortController();
  const began = performance.now();
  const timer = setTimeout(() => {
    deadline.abort();
    logger.warn(logEvents.laneTimedOut, { lane: lane.name, withinMs: lane.withinMs });
  }, lane.withinMs);
  const itemFailed = (item: string, error: unknown): void => {
    metrics.laneItemFailures.inc({ lane: lane.name });
    logger.error(logEvents.laneItemFailed, { lane: lane.name, item, err: error instanceof Error ? error : new Error(String(error)) });
  };
  try {
    await lane.tick({ signal: deadline.signal, itemFailed });
    logger.debug(logEvents.laneTicked, { lane: lane.name, ms: Math.round(performance.now() - began) });
    return !deadline.signal.aborted;
  } catch (error) {
    logger.error(logEvents.laneFailed, { lane: lane.name, err: error instanceof Error ? error : new Error(String(error)) });
    return false;
  } finally {
    clearTimeout(timer);
  }
}
