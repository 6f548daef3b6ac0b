import { Option, type Command } from "commander";
import { printObject } from "../output/print.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { formatOf } from "../program/format-of.js";
import { readRunId } from "./run-id.js";

type Options = GlobalOptions & Readonly<{ reason?: string; drain: "immediate" | "drain-current-node" }>;

/** `mainstay run pause`: asks for the pause. */
export function addPauseRun(parent: Command, world: Console): void {
  parent
    .command("pause")
    .description("pause a run; exit status 5 when it has ended or is paused already")
    .argument("<run-id>", "plain or projected", readRunId)
    .option("-r, --reason <text>", "why, for the log of the run")
    .addOption(new Option("--drain <policy>", "what becomes of the nodes under way").choices(["drain-current-node", "immediate"]).default("drain-current-node"))
    .addHelpText("after", "\nExamples:\n  mainstay run pause acme/0190a1b2-0000-7000-8000-000000000000 --reason 'the bank is down'\n  mainstay run pause acme/0190a1b2-0000-7000-8000-000000000000 --drain immediate")
    .action(async (runId: string, _options: unknown, command: Command) => {
      const { reason, drain, ...options } = command.optsWithGlobals<Options>();
      const answer = await clientOf(world, options).runs.pause(runId, { drainPolicy: drain, ...(reason === undefined ? {} : { reason }) });
      world.out(printObject(answer, formatOf(options), runId));
    });
}
