import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { paths } from "../paths.mjs";
import { say } from "../say.mjs";
import { setUp } from "../set-up/set-up.mjs";

/**
 * `npm run schema:check`: the model says what the migrations make, Prisma's command line accepts what our runner
 * recorded, and our runner refuses a migration that was edited after it was applied. Answers 1 when one fails.
 */
export async function run() {
  await setUp();
  const { prismaCommand } = await import("../../prisma/prisma-command.mjs");
  const { withScratchDatabase } = await import("../../prisma/with-scratch-database.mjs");
  return withScratchDatabase(async (databaseUrl, migrate) => {
    const drift = prismaCommand(
      ["migrate", "diff", "--from-migrations", "prisma/migrations", "--to-schema", "prisma/schema.prisma", "--exit-code"],
      { databaseUrl },
    );
    const status = prismaCommand(["migrate", "status"], { databaseUrl });
    const refusal = await refusalOfEdited(databaseUrl, migrate);
    const outcomes = [
      ["schema.prisma says what the migrations make", drift.status === 0, `${drift.stdout}${drift.stderr}\nrun npm run schema:write and review the difference`],
      ["prisma migrate status accepts what our runner recorded", status.status === 0, `${status.stdout}${status.stderr}`],
      ["our runner refuses an edited migration", /was edited after it was applied/.test(refusal), `it said: ${refusal}`],
    ];
    for (const [sentence, holds, said] of outcomes) say(`${holds ? "ok     " : "FAILED "} ${sentence}${holds ? "" : `\n${said}`}`);
    return outcomes.every(([, holds]) => holds) ? 0 : 1;
  });
}

async function refusalOfEdited(databaseUrl, migrate) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mainstay-edited-"));
  try {
    fs.cpSync(paths.migrations, folder, { recursive: true });
    const [first] = fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    fs.appendFileSync(path.join(folder, first.name, "migration.sql"), "\n-- edited\n");
    await migrate(databaseUrl, folder);
    return "nothing";
  } catch (error) {
    return error.message;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
