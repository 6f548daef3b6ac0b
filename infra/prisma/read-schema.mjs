import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { prismaCommand } from "./prisma-command.mjs";

const head = `// Mirrors prisma/migrations, which are written by hand; \`npm run schema:write\` reads it from a migrated database.
// CHECK constraints, functions, triggers, roles and row-level security stand in the migrations alone.
`;

const base = `generator client {
  provider        = "prisma-client"
  output          = "../packages/database/src/generated"
  previewFeatures = ["partialIndexes"]
}

datasource db {
  provider = "postgresql"
}
`;

/** The text of schema.prisma as the database of `databaseUrl` has it. */
export function readSchema(databaseUrl) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mainstay-schema-"));
  try {
    const file = path.join(folder, "schema.prisma");
    fs.writeFileSync(file, base);
    const pulled = prismaCommand(["db", "pull", "--force", "--schema", file], { databaseUrl });
    if (pulled.status !== 0) throw new Error(`prisma db pull failed: ${pulled.stderr}${pulled.stdout}`);
    const remarks = /^\/\/\/ This (table|model) contains .*\n/gm; // Prisma's own words about what it cannot show
    return `${head}\n${fs.readFileSync(file, "utf8").replace(remarks, "")}`;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
