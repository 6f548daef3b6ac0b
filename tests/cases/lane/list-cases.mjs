import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("..", import.meta.url));

/** Every case file as `{ id, file }`, sorted; the id is the start of its name: `c07-….case.test.ts` is C07. */
export function listCases() {
  return fs.readdirSync(folder).filter((name) => name.endsWith(".case.test.ts")).sort()
    .map((name) => ({ id: name.slice(0, name.indexOf("-")).toUpperCase(), file: path.join(folder, name) }));
}
