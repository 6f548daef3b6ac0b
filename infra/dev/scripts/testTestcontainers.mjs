import fs from "node:fs";
import path from "node:path";
import { paths } from "../paths.mjs";
import { Problem } from "../problem.mjs";
import { say } from "../say.mjs";
import { setUp } from "../setUp/setUp.mjs";
import { runTool } from "../setUp/runTool.mjs";
import { runLanes } from "../testing/runLanes.mjs";

const folder = path.join(paths.root, "tests/testcontainers");

/**
 * `npm run test:testcontainers [-- file filters…]`: the integration lane with Postgres and Redis in containers.
 * Installs the lane's own tool, finds or starts a Docker engine, makes the images, stops what it started.
 */
export async function run(args) {
  await setUp();
  await installTool();
  const { startEngine } = await import(path.join(folder, "startEngine.mjs"));
  const { makeImages } = await import(path.join(folder, "makeImages.mjs"));
  const engine = await startEngine();
  try {
    await makeImages(engine.environment);
    Object.assign(process.env, engine.environment, { MAINSTAY_TEST_BACKEND: "testcontainers" });
    const { passed, failed } = await runLanes(["integration"], args);
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    await engine.stop();
  }
}

async function installTool() {
  if (fs.existsSync(path.join(folder, "node_modules/testcontainers/package.json"))) return;
  say("installing the lane's own tool, testcontainers");
  const status = await runTool("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"]);
  if (status !== 0) throw new Problem("npm ci in tests/testcontainers failed, see its words above");
}
