import { constants } from "node:os";
import { logEvents } from "../logs/log-events.js";
import type { Logger } from "../logs/create-logger.js";
import { runStep, type ShutdownStep } from "./run-step.js";

/** A process's way out. */
export type Shutdown = Readonly<{
  /** Aborts as soon as stopping begins. */
  signal: AbortSignal;
  /**
   * Runs the steps and ends the process with `exitCode`, as a signal would.
   * Begun already, it changes nothing but a 0 into a worse exit status.
   */
  begin(reason: string, exitCode?: number): Promise<void>;
}>;

/** The signals heard, and the way to end; given by tests that must not end. */
export type ShutdownOptions = Readonly<{ exit?: (code: number) => void }>;

/**
 * Hears SIGTERM and SIGINT. The first runs `steps` in order, once; a step that
 * fails or outlasts its time is logged and the next one runs. A second signal
 * aborts the `hurry` of the step that runs and of all later ones; a third ends
 * the process at once. After the last step the process exits, with 0 unless
 * told otherwise.
 *
 * An exception or rejection nobody caught is a bug: logged with its stack, and
 * the process exits with 1 at once, because nothing it knows is sure any more.
 * What it held is taken over by its peers.
 */
export function onShutdown(logger: Logger, steps: readonly ShutdownStep[], { exit = (code) => process.exit(code) }: ShutdownOptions = {}): Shutdown {
  const stopping = new AbortController();
  const hurry = new AbortController();
  let status = 0;
  let ending: Promise<void> | undefined;

  const run = async (reason: string): Promise<void> => {
    logger.info(logEvents.processStopping, { reason });
    for (const step of steps) await runStep(step, { logger, hurry: hurry.signal });
    logger.info(logEvents.processStopped, { reason, status });
    exit(status);
  };
  const begin = (reason: string, exitCode = 0): Promise<void> => {
    if (exitCode !== 0) status = exitCode;
    if (ending === undefined) {
      stopping.abort(reason);
      ending = run(reason);
    }
    return ending;
  };
  const crash = (error: unknown): void => {
    logger.error(logEvents.processCrashed, { err: error instanceof Error ? error : new Error(String(error)) });
    exit(1);
  };
  const hear = (name: "SIGTERM" | "SIGINT"): void => {
    if (ending === undefined) void begin(name);
    else if (!hurry.signal.aborted) hurry.abort(name);
    else exit(128 + constants.signals[name]);
  };
  process.on("SIGTERM", hear);
  process.on("SIGINT", hear);
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  return Object.freeze({ signal: stopping.signal, begin });
}
