import path from "node:path";
import { paths } from "../paths.mjs";
import { runTool } from "../set-up/run-tool.mjs";
import { setUp } from "../set-up/set-up.mjs";

/** `npm run lint [-- files…]`: the rules of eslint.config.js; a warning fails too. Answers the linter's status. */
export async function run(args) {
  await setUp(); // the typed rules read the declarations of the rooms
  const targets = args.length ? args : ["."];
  return runTool(path.join(paths.bin, "eslint"), ["--max-warnings=0", ...targets], { output: "stdout" });
}
