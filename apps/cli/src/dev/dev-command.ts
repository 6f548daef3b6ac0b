import { generateKeyPairSync } from "node:crypto";
import { createKey, migrate } from "@mainstay/database";
import { scopes } from "@mainstay/contract";
import { startFleet } from "@mainstay/fleet";
import type { Command } from "commander";
import { mintKey } from "../key/mint-key.js";
import { migrationsFolder } from "../migrate/migrate-command.js";
import { printObject } from "../output/print.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { withDatabase } from "../key/with-database.js";
import { databaseUrlOf } from "../migrate/database-url-of.js";
import { formatOf } from "../program/format-of.js";

/** The key that `dev` prints ends after a day: every start makes one. */
const keyLifeMs = 86_400_000;

/** `mainstay dev`: all roles as separate processes on this machine, until Ctrl-C. */
export function addDev(program: Command, world: Console): void {
  program
    .command("dev")
    .description("start all roles as separate processes on this machine, until Ctrl-C")
    .option("--workers <number>", "how many workers", "2")
    .option("--port <number>", "the api's port", "8080")
    .option("--workspace <slug>", "the workspace of the printed key", "dev")
    .addHelpText("after", "\nExamples:\n  npm run -s mainstay -- dev\n  MAINSTAY_WORKFLOWS=./workflows.mjs mainstay dev --workers 4")
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { workers: string; port: string; workspace: string }>();
      await migrate(databaseUrlOf(world), migrationsFolder);
      const minted = mintKey();
      await withDatabase(world, (database) => createKey(database, {
        keyId: minted.keyId, workspace: options.workspace, name: "dev", scopes, secretHash: minted.secretHash, expiresInMs: keyLifeMs,
      }));
      world.err("starting api, relay, workers and supervisor\n");
      const fleet = await startFleet({
        workers: Number(options.workers), apiPort: Number(options.port),
        env: { MAINSTAY_SIGNING_KEY: mintSigningKey(), ...world.env },
      });
      const shown = {
        url: fleet.apiUrl(), key: minted.key, workspace: options.workspace,
        processes: fleet.processes().map(({ name, pid, url }) => ({ name, pid, url })),
      };
      const format = formatOf(options);
      world.out(format === "table"
        ? [`api  ${shown.url}`, `docs ${shown.url}/docs`, `key  ${shown.key} (a day, workspace ${shown.workspace})`, "",
          ...shown.processes.map(({ name, pid, url }) => `${name.padEnd(13)} pid ${String(pid).padEnd(8)} ${url}`), ""].join("\n")
        : printObject(shown, format, shown.key));
      await untilAborted(world.interrupted);
      world.err("stopping\n");
      await fleet.stop();
    });
}

function mintSigningKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    // A pending timer keeps the process up while it only waits for its children.
    const alive = setInterval(() => undefined, 60_000);
    signal.addEventListener("abort", () => {
      clearInterval(alive);
      resolve();
    }, { once: true });
  });
}
