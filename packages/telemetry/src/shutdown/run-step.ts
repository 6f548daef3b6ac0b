import { logEvents } from "../logs/log-events.js";
import type { Logger } from "../logs/create-logger.js";

/** One step on the way out. */
export type ShutdownStep = Readonly<{
  /** As it stands in the log. */
  name: string;
  /** The step is left behind after this many milliseconds; default 5 s. */
  withinMs?: number;
  /** `hurry` aborts when somebody asks a second time; a drain then hands back what it holds. */
  run(hurry: AbortSignal): Promise<void> | void;
}>;

/** Runs one step to its end, its failure or its time, whichever comes first. Never throws. */
export async function runStep(step: ShutdownStep, { logger, hurry }: { logger: Logger; hurry: AbortSignal }): Promise<void> {
  const { name, withinMs = 5_000 } = step;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => { resolve("late"); }, withinMs);
  });
  try {
    const outcome = await Promise.race([Promise.resolve(step.run(hurry)), late]);
    if (outcome === "late") logger.error(logEvents.shutdownStepTimedOut, { step: name, withinMs });
  } catch (error) {
    logger.error(logEvents.shutdownStepFailed, { step: name, err: error instanceof Error ? error : new Error(String(error)) });
  } finally {
    clearTimeout(timer);
  }
}
