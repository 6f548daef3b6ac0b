import fs from "node:fs";
import path from "node:path";
import { paths } from "../paths.mjs";
import { say } from "../say.mjs";
import { setUp } from "../set-up/set-up.mjs";

/** `npm run schema:write`: brings prisma/schema.prisma to what the migrations make. */
export async function run() {
  await setUp();
  const { readSchema } = await import("../../prisma/read-schema.mjs");
  const { withScratchDatabase } = await import("../../prisma/with-scratch-database.mjs");
  const text = await withScratchDatabase((url) => readSchema(url));
  fs.writeFileSync(path.join(paths.root, "prisma/schema.prisma"), text);
  say("wrote prisma/schema.prisma");
}
