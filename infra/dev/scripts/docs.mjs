import fs from "node:fs";
import path from "node:path";
import { paths } from "../paths.mjs";
import { say } from "../say.mjs";
import { setUp } from "../set-up/set-up.mjs";

/**
 * `npm run docs`: writes every generated page (infra/docs/generate-*.mjs, each exporting
 * `generate(): { path, text }[]`). `-- --check` writes nothing and answers 1 when a page differs.
 */
export async function run(args) {
  await setUp();
  const folder = path.join(paths.root, "infra/docs");
  const generators = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => /^generate-.*\.mjs$/.test(name)).sort() : [];
  const differing = [];
  for (const name of generators) {
    const { generate } = await import(path.join(folder, name));
    for (const page of await generate()) {
      const file = path.resolve(paths.root, page.path);
      const present = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
      if (present === page.text) continue;
      differing.push(path.relative(paths.root, file));
      if (args.includes("--check")) continue;
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, page.text);
    }
  }
  if (!args.includes("--check")) return void say(differing.length ? `wrote ${differing.join(", ")}` : "every generated page is up to date");
  if (differing.length) say(`these pages differ from what the code says: ${differing.join(", ")}. Run npm run docs and commit them`);
  return differing.length ? 1 : 0;
}
