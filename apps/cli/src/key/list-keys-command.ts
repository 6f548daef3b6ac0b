import type { ApiKeySummary } from "@mainstay/contract";
import { listKeys } from "@mainstay/database";
import type { Command } from "commander";
import { printList } from "../output/print.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { withDatabase } from "./with-database.js";
import { formatOf } from "../program/format-of.js";

/** `mainstay key list`: keys without their secrets, revoked and expired ones too. */
export function addListKeys(parent: Command, world: Console): void {
  parent
    .command("list")
    .description("list API keys")
    .option("-w, --workspace <slug>", "only of this workspace")
    .addHelpText("after", "\nExamples:\n  mainstay key list\n  mainstay key list -w acme --json")
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { workspace?: string }>();
      const found = await withDatabase(world, (database) =>
        listKeys(database, options.workspace === undefined ? {} : { workspace: options.workspace }));
      const rows: ApiKeySummary[] = found.map((row) => ({
        ...row,
        createdAt: row.createdAt.toISOString(),
        expiresAt: row.expiresAt?.toISOString() ?? null,
        revokedAt: row.revokedAt?.toISOString() ?? null,
      }));
      world.out(printList(rows, formatOf(options), {
        id: (row) => row.keyId,
        columns: {
          KEY: (row) => row.keyId,
          WORKSPACE: (row) => row.workspace,
          NAME: (row) => row.name,
          STATE: (row) => (row.revokedAt !== null ? "revoked" : row.expiresAt !== null && row.expiresAt < new Date().toISOString() ? "expired" : "live"),
          CREATED: (row) => row.createdAt,
          SCOPES: (row) => row.scopes.join(","),
        },
      }));
    });
}
