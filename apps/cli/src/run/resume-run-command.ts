import type { Command } from "commander";
import { printObject } from "../output/print.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { formatOf } from "../program/format-of.js";
import { readRunId } from "./run-id.js";

/** `mainstay run resume`: lets a paused run go on. */
export function addResumeRun(parent: Command, world: Console): void {
  parent
    .command("resume")
    .description("let a paused run go on; exit status 5 when it is not paused")
    .argument("<run-id>", "plain or projected", readRunId)
    .addHelpText("after", "\nExamples:\n  mainstay run resume acme/0190a1b2-0000-7000-8000-000000000000")
    .action(async (runId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      world.out(printObject(await clientOf(world, options).runs.resume(runId), formatOf(options), runId));
    });
}
