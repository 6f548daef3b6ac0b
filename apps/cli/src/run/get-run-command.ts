import type { Command } from "commander";
import { printObject } from "../output/print.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { formatOf } from "../program/format-of.js";
import { readRunId } from "./run-id.js";

/** `mainstay run get`: the snapshot of one run. */
export function addGetRun(parent: Command, world: Console): void {
  parent
    .command("get")
    .description("show one run")
    .argument("<run-id>", "plain or projected", readRunId)
    .addHelpText("after", "\nExamples:\n  mainstay run get acme/0190a1b2-0000-7000-8000-000000000000 --json")
    .action(async (runId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      world.out(printObject(await clientOf(world, options).runs.get(runId), formatOf(options), runId));
    });
}
