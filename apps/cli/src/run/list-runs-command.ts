import { RunStatus } from "@mainstay/contract";
import { Option, type Command } from "commander";
import { printList, showStatus } from "../output/print.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { formatOf } from "../program/format-of.js";

type Options = GlobalOptions & Readonly<{ limit: string; workflow?: string; status?: RunStatus; cursor?: string }>;

/** `mainstay run list`: runs of the key's workspace, newest first. */
export function addListRuns(parent: Command, world: Console): void {
  parent
    .command("list")
    .description("list runs, newest first")
    .option("-l, --limit <number>", "runs on the page, at most 100", "25")
    .option("--workflow <id>", "only of this workflow")
    .addOption(new Option("--status <status>", "only in this status").choices(RunStatus.options))
    .option("--cursor <cursor>", "the page after this one")
    .addHelpText("after", "\nExamples:\n  mainstay run list --status failed\n  mainstay run list --workflow invoice -o id")
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const page = await clientOf(world, options).runs.list({
        limit: Number(options.limit),
        ...(options.workflow === undefined ? {} : { workflowId: options.workflow }),
        ...(options.status === undefined ? {} : { status: options.status }),
        ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
      });
      const format = formatOf(options);
      if (format === "json") world.out(`${JSON.stringify(page, undefined, 2)}\n`);
      else {
        world.out(printList(page.runs, format, {
          id: (run) => run.runId,
          columns: {
            RUN: (run) => run.runId, WORKFLOW: (run) => run.workflowId, STATUS: (run) => showStatus(run.status),
            STARTED: (run) => run.startedAt ?? "", ENDED: (run) => run.completedAt ?? "",
          },
        }));
        if (page.nextCursor !== undefined) world.err(`more: --cursor ${page.nextCursor}\n`);
      }
    });
}
