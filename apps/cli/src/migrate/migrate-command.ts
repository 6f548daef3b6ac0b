import { fileURLToPath } from "node:url";
import { migrate } from "@mainstay/database";
import type { Command } from "commander";
import { printList } from "../output/print.js";
import type { Console, GlobalOptions } from "../program/console.js";
import { databaseUrlOf } from "./database-url-of.js";
import { formatOf } from "../program/format-of.js";

/** Where the repository and the image keep the migrations. */
export const migrationsFolder = fileURLToPath(new URL("../../../../prisma/migrations", import.meta.url));

/** `mainstay migrate`: brings the database to this version's schema. Any number of runners may race. */
export function addMigrate(program: Command, world: Console): void {
  program
    .command("migrate")
    .description("apply the migrations that the database lacks")
    .addHelpText("after", "\nExamples:\n  DATABASE_URL=postgres://… mainstay migrate")
    .action(async (_options: unknown, command: Command) => {
      const applied = await migrate(databaseUrlOf(world), migrationsFolder);
      const format = formatOf(command.optsWithGlobals<GlobalOptions>());
      if (format === "table" && applied.length === 0) world.err("the schema is up to date\n");
      else world.out(printList(applied.map((name) => ({ name })), format, { id: ({ name }) => name, columns: { APPLIED: ({ name }) => name } }));
    });
}
