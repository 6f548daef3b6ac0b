import { revokeKey } from "@mainstay/database";
import type { Command } from "commander";
import { printObject } from "../output/print.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { withDatabase } from "./with-database.js";
import { exitStatus } from "../program/exit-status.js";
import { formatOf } from "../program/format-of.js";
import { Trouble } from "../program/trouble.js";

/** `mainstay key revoke`: every api refuses the next request that bears the key. */
export function addRevokeKey(parent: Command, world: Console): void {
  parent
    .command("revoke")
    .description("revoke an API key; it holds for the next request")
    .argument("<key-id>", "the middle part of mst_<key-id>_<secret>")
    .addHelpText("after", "\nExamples:\n  mainstay key revoke 0f3a9c7b2d114e60")
    .action(async (keyId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const revoked = await withDatabase(world, (database) => revokeKey(database, keyId));
      if (revoked.kind === "not_found") throw new Trouble(`no key "${keyId}"`, exitStatus.notFound, "mainstay key list");
      world.out(printObject({ keyId, revokedAt: revoked.revokedAt.toISOString() }, formatOf(options), keyId));
    });
}
