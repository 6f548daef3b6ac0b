import { isTerminalStatus, type RunEvent } from "@mainstay/contract";
import { Option, type Command } from "commander";
import pc from "picocolors";
import { clientOf } from "../program/client-of.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { formatOf } from "../program/format-of.js";
import { readRunId } from "./run-id.js";
import { tellEnding } from "./tell-ending.js";

/** `mainstay run watch`: the log as it grows, until the run ends. JSON is one event a line. */
export function addWatchRun(parent: Command, world: Console): void {
  parent
    .command("watch")
    .description("follow a run's log until it ends; exit status 7 when it failed, 8 when it was cancelled")
    .argument("<run-id>", "plain or projected", readRunId)
    .addOption(new Option("--mode <mode>", "which events").choices(["updates", "debug"]).default("debug"))
    .option("--from <sequence>", "the first sequence wanted", "0")
    .addHelpText("after", "\nExamples:\n  mainstay run watch acme/0190a1b2-0000-7000-8000-000000000000\n  mainstay run watch acme~2F0190a1b2-0000-7000-8000-000000000000 -o ndjson | jq .type")
    .action(async (runId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { mode: string; from: string }>();
      const { runs } = clientOf(world, options);
      const format = formatOf(options);
      for await (const event of runs.events(runId, { streamMode: options.mode, from: Number(options.from), signal: world.interrupted })) {
        world.out(format === "table" ? `${line(event)}\n` : format === "id" ? `${event.eventId}\n` : `${JSON.stringify(event)}\n`);
      }
      const snapshot = await runs.get(runId);
      if (isTerminalStatus(snapshot.status)) tellEnding(world, runId, snapshot);
    });
}

function line(event: RunEvent): string {
  const about = event.nodeId === undefined ? "" : ` ${pc.bold(event.nodeId)}`;
  return `${pc.dim(event.timestamp)} ${String(event.sequence).padStart(4)} ${event.type}${about}${told(event)}`;
}

function told(event: RunEvent): string {
  switch (event.type) {
    case "node.failed":
    case "run.failed": return ` ${pc.red(event.payload.error.code)}`;
    case "node.started": return ` ${event.payload.typeId} attempt ${String(event.payload.attempt ?? 0)}`;
    case "node.retried": return ` after ${String(event.payload.delayMs ?? 0)} ms`;
    case "lease.acquired": return ` by ${event.payload.instanceId ?? "?"}`;
    case "run.dead-lettered": return ` ${event.payload.reason}`;
    default: return "";
  }
}
