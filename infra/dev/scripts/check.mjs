import path from "node:path";
import { paths } from "../paths.mjs";
import { runTool } from "../set-up/run-tool.mjs";
import { setUp } from "../set-up/set-up.mjs";

/** `npm run check`: the types of every room and of every test file. Answers the compiler's status. */
export async function run() {
  await setUp();
  return runTool(path.join(paths.bin, "tsc"), ["-p", "tsconfig.check.json"], { output: "stdout" });
}
