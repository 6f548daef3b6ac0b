import { InvalidArgumentError, Option, type Command } from "commander";
import { printObject } from "../output/print.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { formatOf } from "../program/format-of.js";
import { readRunId } from "./run-id.js";

type Options = GlobalOptions & Readonly<{ mode: "branch" | "replay"; from?: number; input?: unknown; idempotencyKey?: string }>;

/** `mainstay run fork`: a new run out of one that has ended. */
export function addForkRun(parent: Command, world: Console): void {
  parent
    .command("fork")
    .description("fork a run that has ended; exit status 5 when it goes on")
    .argument("<run-id>", "plain or projected", readRunId)
    .addOption(new Option("--mode <mode>", "branch: effects fire anew; replay: they are answered from the record").choices(["branch", "replay"]).default("branch"))
    .option("--from <sequence>", "the first sequence that is executed anew; a branch needs it", readSequence)
    .option("-i, --input <json>", "a branch's input instead of the source's", readInput)
    .option("--idempotency-key <key>", "22 to 128 of A-Z a-z 0-9 . _ ~ -; the same key makes one run")
    .addHelpText("after", "\nExamples:\n  mainstay run fork acme/0190a1b2-0000-7000-8000-000000000000 --from 5 -i '{\"order\":\"o-8\"}'\n  mainstay run fork acme/0190a1b2-0000-7000-8000-000000000000 --mode replay")
    .action(async (runId: string, _options: unknown, command: Command) => {
      const { mode, from, input, idempotencyKey, ...options } = command.optsWithGlobals<Options>();
      const answer = await clientOf(world, options).runs.fork(runId, {
        mode, ...(from === undefined ? {} : { fromSeq: from }), ...(input === undefined ? {} : { runOptionsOverlay: { inputs: input } }),
      }, idempotencyKey === undefined ? {} : { idempotencyKey });
      world.out(printObject(answer, formatOf(options), answer.runId));
    });
}

function readSequence(text: string): number {
  const sequence = Number(text);
  if (Number.isInteger(sequence) && sequence >= 0) return sequence;
  throw new InvalidArgumentError("Expected a sequence of the log: 0, 1, 2 …");
}

function readInput(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError("Expected JSON, quoted as in -i '{\"a\":1}'.");
  }
}
