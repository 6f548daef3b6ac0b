import { spawn } from "node:child_process";
import { paths } from "../paths.mjs";

/**
 * Runs a program from the clone's root, without stdin, and answers its exit status (1 when a signal ended it).
 * `output`: `stderr` (default) keeps a tool's chatter off our stdout, `stdout` passes it on as it is, `onFailure`
 * shows it on stderr only when the status is not 0.
 */
export function runTool(command, args, { output = "stderr", env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const where = { stderr: 2, stdout: 1, onFailure: "pipe" }[output];
    const child = spawn(command, args, {
      cwd: paths.root,
      env: { ...process.env, ...toolEnvironment(), ...env },
      stdio: ["ignore", where, where === "pipe" ? "pipe" : 2],
    });
    const kept = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => kept.push(chunk));
    child.once("error", reject);
    child.once("close", (status) => {
      if (status !== 0) for (const chunk of kept) process.stderr.write(chunk);
      resolve(status ?? 1);
    });
  });
}

/** What keeps the tools offline and quiet: no engine download, no version check, no telemetry. */
export function toolEnvironment() {
  return {
    PRISMA_SCHEMA_ENGINE_BINARY: process.env.PRISMA_SCHEMA_ENGINE_BINARY || `${paths.root}/infra/prisma/schema-engine.mjs`,
    CHECKPOINT_DISABLE: "1",
    PRISMA_HIDE_UPDATE_MESSAGE: "1",
    TURBO_TELEMETRY_DISABLED: "1",
    TURBO_NO_UPDATE_NOTIFIER: "1",
    DO_NOT_TRACK: "1",
    NO_UPDATE_NOTIFIER: "1",
  };
}
