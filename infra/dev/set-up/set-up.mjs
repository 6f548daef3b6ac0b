import fs from "node:fs";
import { paths } from "../paths.mjs";
import { Problem } from "../problem.mjs";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { toolEnvironment } from "./run-tool.mjs";

/**
 * Makes a bare clone ready: packages installed to the lockfile, every room built. Safe to call from several
 * processes at once. `build: 'skip'` leaves the rooms alone, for scripts that read sources only.
 */
export async function setUp({ build: wanted = "build" } = {}) {
  try {
    fs.mkdirSync(paths.data, { recursive: true });
    fs.accessSync(paths.data, fs.constants.W_OK);
  } catch (error) {
    throw new Problem(`${paths.data} cannot be written (${error.code}): give the clone to the user who runs it, or clone it anew`);
  }
  Object.assign(process.env, toolEnvironment());
  await install();
  if (wanted === "build") await build();
}
