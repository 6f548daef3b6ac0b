import type { Command } from "commander";
import { printObject } from "../output/print.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { formatOf } from "../program/format-of.js";
import { readRunId } from "./run-id.js";

/** `mainstay run cancel`: asks for the stop. */
export function addCancelRun(parent: Command, world: Console): void {
  parent
    .command("cancel")
    .description("cancel a run; exit status 5 when it has ended before")
    .argument("<run-id>", "plain or projected", readRunId)
    .option("-r, --reason <text>", "why, for the log of the run")
    .addHelpText("after", "\nExamples:\n  mainstay run cancel acme/0190a1b2-0000-7000-8000-000000000000 --reason 'no longer wanted'")
    .action(async (runId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { reason?: string }>();
      const answer = await clientOf(world, options).runs.cancel(runId, options.reason === undefined ? {} : { reason: options.reason });
      world.out(printObject(answer, formatOf(options), runId));
    });
}
