import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const left = new Set(["node_modules", "dist", ".turbo", "test", "generated"]);

/** What a passed case stands on: its own file, the lane and what its cases share, the product's sources and its migrations. */
export function digestCase(file) {
  const hash = createHash("sha256").update(fs.readFileSync(file));
  for (const folder of ["tests/cases", "apps", "packages", "prisma/migrations"]) add(hash, path.join(root, folder));
  return hash.digest("hex").slice(0, 16);
}

function add(hash, folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!left.has(entry.name)) add(hash, file);
    } else if (!entry.name.includes(".test.") && !entry.name.endsWith(".md")) hash.update(path.relative(root, file)).update(fs.readFileSync(file));
  }
}
