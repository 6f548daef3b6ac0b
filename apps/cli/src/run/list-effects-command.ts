import type { Command } from "commander";
import { printList } from "../output/print.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { formatOf } from "../program/format-of.js";
import { readRunId } from "./run-id.js";

/** `mainstay run effects`: what a run did to the outside world. */
export function addListEffects(parent: Command, world: Console): void {
  parent
    .command("effects")
    .description("list a run's effects")
    .argument("<run-id>", "plain or projected", readRunId)
    .addHelpText("after", "\nExamples:\n  mainstay run effects acme/0190a1b2-0000-7000-8000-000000000000")
    .action(async (runId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const { effects } = await clientOf(world, options).runs.effects(runId);
      world.out(printList(effects, formatOf(options), {
        id: (effect) => effect.effectId,
        columns: {
          EFFECT: (effect) => effect.effectId, NODE: (effect) => effect.nodeId, STATE: (effect) => effect.state,
          ATTEMPT: (effect) => String(effect.attempt), AT: (effect) => effect.at,
        },
      }));
    });
}
