import type { RunError, RunStatus } from "@mainstay/contract";
import type { Console } from "../program/console.js";
import { exitStatus } from "../program/exit-status.js";

/** Tells how an awaited run ended and sets the exit status. Of UNKNOWN it says that the outcome is unknown, never that it failed. */
export function tellEnding(world: Console, runId: string, ended: { status: RunStatus; error?: RunError | undefined }): void {
  if (ended.status === "failed") {
    const { error } = ended;
    const unknown = error?.details?.["class"] === "UNKNOWN";
    world.err(`run ${runId} ${unknown ? "ended with its outcome unknown" : "failed"}: ${error?.code ?? "no code"}${error === undefined ? "" : ` (${error.message})`}; it has a dead letter\n`);
    world.end(exitStatus.runFailed);
  } else if (ended.status === "cancelled") {
    world.err(`run ${runId} was cancelled\n`);
    world.end(exitStatus.runCancelled);
  }
}
