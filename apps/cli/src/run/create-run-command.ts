import { readFile } from "node:fs/promises";
import { JsonRefused, parseJson } from "@mainstay/domain";
import type { Command } from "commander";
import { printObject } from "../output/print.js";
import { readDuration } from "../output/read-duration.js";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { exitStatus } from "../program/exit-status.js";
import { formatOf } from "../program/format-of.js";
import { Trouble } from "../program/trouble.js";
import { tellEnding } from "./tell-ending.js";

type Options = GlobalOptions & Readonly<{
  input?: string; inputFile?: string; tag?: readonly string[]; idempotencyKey?: string; wait?: true; timeout: number;
}>;

/** `mainstay run create`: accepts a run, and with `--wait` awaits its end. */
export function addCreateRun(parent: Command, world: Console): void {
  parent
    .command("create")
    .description("create a run of a workflow")
    .argument("<workflow>", "the workflow's id")
    .option("-i, --input <json>", "the run's input")
    .option("-f, --input-file <path>", "the run's input from a file; - is stdin")
    .option("-t, --tag <text...>", "tags of the run")
    .option("--idempotency-key <key>", "22 to 128 of A-Z a-z 0-9 . _ ~ -; the same key makes one run")
    .option("--wait", "wait for the end; exit status 7 when it failed, 8 when it was cancelled")
    .option("--timeout <duration>", "with --wait: how long", readDuration, 300_000)
    .addHelpText("after", `
Examples:
  mainstay run create conformance-noop --wait
  mainstay run create invoice -i '{"order":"o-7","cents":900}' -t spring
  cat order.json | mainstay run create invoice -f - -o id`)
    .action(async (workflow: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const input = await readInput(world, options);
      const { runs } = clientOf(world, options);
      const created = await runs.create(workflow, input, {
        ...(options.tag === undefined ? {} : { tags: options.tag }),
        ...(options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey }),
        signal: world.interrupted,
      });
      const format = formatOf(options);
      if (options.wait === undefined) {
        world.out(printObject(created, format, created.runId));
        return;
      }
      world.err(`waiting for ${created.runId}\n`);
      const result = await runs.result(created.runId, { timeoutMs: options.timeout, signal: world.interrupted });
      world.out(printObject(result, format, created.runId));
      tellEnding(world, created.runId, result);
    });
}

async function readInput(world: Console, options: Options): Promise<unknown> {
  if (options.input !== undefined && options.inputFile !== undefined) {
    throw new Trouble("expected --input or --input-file, both were given", exitStatus.usage, "leave one of them out");
  }
  const text = options.inputFile === undefined ? options.input
    : options.inputFile === "-" ? await world.readInput() : await readFile(options.inputFile, "utf8");
  if (text === undefined) return undefined;
  try {
    // as the api would read it: a number that a double rounds is refused here, before it is rounded
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    const place = error.path === "" ? "the input" : error.path;
    throw new Trouble(`the input is refused: ${place}: ${error.message}`, exitStatus.usage, "give JSON, quoted as in -i '{\"a\":1}'");
  }
}
