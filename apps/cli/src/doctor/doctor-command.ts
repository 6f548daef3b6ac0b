import type { Command } from "commander";
import { printList, showStatus } from "../output/print.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { exitStatus } from "../program/exit-status.js";
import { formatOf } from "../program/format-of.js";

/** `mainstay doctor`: what the fleet says of itself; exit status 1 when a check failed. */
export function addDoctor(program: Command, world: Console): void {
  program
    .command("doctor")
    .description("examine the fleet: database, schema, clocks, roles, broker, bounds")
    .addHelpText("after", "\nExamples:\n  mainstay doctor\n  mainstay doctor --json")
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const answer = await clientOf(world, options).ops.doctor();
      const format = formatOf(options);
      if (format === "json") world.out(`${JSON.stringify(answer, undefined, 2)}\n`);
      else {
        world.out(printList(answer.checks, format, {
          id: (check) => check.name,
          columns: {
            CHECK: (check) => check.name, STATE: (check) => showStatus(check.state), SEEN: (check) => check.seen,
            NEXT: (check) => check.next ?? "",
          },
        }));
      }
      if (!answer.ok) world.end(exitStatus.failed);
    });
}
