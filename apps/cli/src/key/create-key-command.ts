import { Scope, scopes, WorkspaceSlug } from "@mainstay/contract";
import { createKey } from "@mainstay/database";
import { InvalidArgumentError, type Command } from "commander";
import { printObject } from "../output/print.js";
import { readDuration } from "../output/read-duration.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { withDatabase } from "./with-database.js";
import { formatOf } from "../program/format-of.js";
import { mintKey } from "./mint-key.js";

type Options = GlobalOptions & Readonly<{ workspace: string; name: string; scope: readonly Scope[]; expires?: number }>;

/** `mainstay key create`: makes a key and prints it, once. */
export function addCreateKey(parent: Command, world: Console): void {
  parent
    .command("create")
    .description("make an API key; its secret is shown once and stored nowhere")
    .option("-w, --workspace <slug>", "the workspace it belongs to; made when it is new", readWorkspace, "default")
    .option("-n, --name <text>", "a name for people", "cli")
    .option("-s, --scope <scopes>", "scopes, joined by commas", readScopes, scopes)
    .option("--expires <duration>", "when it ends, such as 90d; default never", readDuration)
    .addHelpText("after", `
Examples:
  mainstay key create --workspace acme
  mainstay key create -w acme -s runs:create,runs:read --expires 90d --json
  export MAINSTAY_KEY=$(mainstay key create -w acme -o id)`)
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const minted = mintKey();
      const stored = await withDatabase(world, (database) => createKey(database, {
        keyId: minted.keyId, workspace: options.workspace, name: options.name, scopes: options.scope, secretHash: minted.secretHash,
        ...(options.expires === undefined ? {} : { expiresInMs: options.expires }),
      }));
      const shown = {
        key: minted.key, keyId: minted.keyId, workspace: options.workspace, name: options.name, scopes: options.scope,
        createdAt: stored.createdAt.toISOString(), expiresAt: stored.expiresAt?.toISOString() ?? null,
      };
      world.out(printObject(shown, formatOf(options), minted.key));
      world.err("this is the only time the key is shown\n");
    });
}

function readWorkspace(text: string): string {
  const slug = WorkspaceSlug.safeParse(text);
  if (slug.success) return slug.data;
  throw new InvalidArgumentError("Expected 1 to 64 of A-Z a-z 0-9 . _ -");
}

function readScopes(text: string): readonly Scope[] {
  return text.split(",").map((one) => {
    const scope = Scope.safeParse(one.trim());
    if (scope.success) return scope.data;
    throw new InvalidArgumentError(`Expected scopes of ${scopes.join(", ")}.`);
  });
}
