import { Command, Option } from "commander";
import { addDev } from "../dev/dev-command.js";
import { addDoctor } from "../doctor/doctor-command.js";
import { addCreateKey } from "../key/create-key-command.js";
import { addListKeys } from "../key/list-keys-command.js";
import { addRevokeKey } from "../key/revoke-key-command.js";
import { addMigrate } from "../migrate/migrate-command.js";
import { outputFormats } from "../output/print.js";
import { addCancelRun } from "../run/cancel-run-command.js";
import { addCreateRun } from "../run/create-run-command.js";
import { addForkRun } from "../run/fork-run-command.js";
import { addGetRun } from "../run/get-run-command.js";
import { addListEffects } from "../run/list-effects-command.js";
import { addListRuns } from "../run/list-runs-command.js";
import { addPauseRun } from "../run/pause-run-command.js";
import { addResumeRun } from "../run/resume-run-command.js";
import { addWatchRun } from "../run/watch-run-command.js";
import type { Console } from "./console.js";
import { exitStatusHelp } from "./exit-status.js";

/** The whole command line. It prints through `world` alone, and commander throws instead of exiting. */
export function createProgram(world: Console, version: string): Command {
  const program = new Command("mainstay");
  // Before any command is added: each one inherits these.
  program.exitOverride().configureOutput({ writeOut: world.out, writeErr: world.err });
  program
    .description("The operator's hand of a Mainstay fleet.")
    .version(version)
    .addOption(new Option("-o, --output <format>", "how data is printed").choices(outputFormats))
    .option("--json", "the same as -o json")
    .option("--url <url>", "the api's address; MAINSTAY_URL, else http://127.0.0.1:8080")
    .option("--api-key <key>", "the key to use; MAINSTAY_KEY is better, a flag shows in the process list")
    .option("--debug", "print the stack of an error")
    .addHelpText("after", `
Examples:
  mainstay dev
  mainstay key create --workspace acme
  mainstay run create conformance-noop --wait
${exitStatusHelp}`);
  const key = program.command("key").description("API keys (speaks to the database)");
  addCreateKey(key, world);
  addListKeys(key, world);
  addRevokeKey(key, world);
  const run = program.command("run").description("runs of workflows").addHelpText("after", exitStatusHelp);
  addCreateRun(run, world);
  addGetRun(run, world);
  addListRuns(run, world);
  addWatchRun(run, world);
  addCancelRun(run, world);
  addPauseRun(run, world);
  addResumeRun(run, world);
  addForkRun(run, world);
  addListEffects(run, world);
  addDoctor(program, world);
  addMigrate(program, world);
  addDev(program, world);
  return program;
}
