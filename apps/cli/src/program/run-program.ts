import { CommanderError } from "commander";
import type { Console } from "./console.js";
import { createProgram } from "./create-program.js";
import { exitStatus, type ExitStatus } from "./exit-status.js";
import { tellTrouble } from "./trouble.js";

/**
 * Runs one command line to its end. Never throws: an error is told on `err` (with `--json` as one object), with one
 * next step, and becomes the exit status.
 */
export async function runProgram(args: readonly string[], outer: Omit<Console, "end">, version: string): Promise<ExitStatus> {
  let status: ExitStatus = exitStatus.done;
  const world: Console = { ...outer, end: (wanted) => { status = wanted; } };
  const program = createProgram(world, version);
  try {
    await program.parseAsync([...args], { from: "user" });
    return status;
  } catch (thrown) {
    // Help and version are thrown too, with status 0; commander has printed its own message.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitStatus.done : exitStatus.usage;
    if (world.interrupted.aborted) return exitStatus.interrupted;
    const told = tellTrouble(thrown);
    const { json, debug } = program.opts<{ json?: true; debug?: true }>();
    if (json === true) world.err(`${JSON.stringify({ error: told.code, message: told.message, next: told.next, requestId: told.requestId })}\n`);
    else {
      world.err(`error: ${told.message} [${told.code}]\n`);
      if (told.next !== undefined) world.err(`next:  ${told.next}\n`);
      if (told.requestId !== undefined) world.err(`request id: ${told.requestId}\n`);
    }
    if (debug === true && thrown instanceof Error) world.err(`${thrown.stack ?? ""}\n`);
    return told.status;
  }
}
