import { spawnSync } from "node:child_process";
import path from "node:path";
import { paths } from "../dev/paths.mjs";
import { toolEnvironment } from "../dev/set-up/run-tool.mjs";

/** Runs Prisma's command line on the engine from npm, offline. Answers `{ status, stdout, stderr }`. */
export function prismaCommand(args, { databaseUrl }) {
  const env = { ...process.env, ...toolEnvironment(), DATABASE_URL: databaseUrl, NO_COLOR: "1" };
  const program = path.join(paths.modules, "prisma/build/index.js");
  const options = { cwd: paths.root, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] };
  return spawnSync(process.execPath, [program, ...args], options);
}
