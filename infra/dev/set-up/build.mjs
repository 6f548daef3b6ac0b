import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { paths } from "../paths.mjs";
import { Problem } from "../problem.mjs";
import { say } from "../say.mjs";
import { runTool } from "./run-tool.mjs";
import { tellEvery } from "./tell-every.mjs";
import { withLock } from "./with-lock.mjs";

const record = path.join(paths.data, "built");

/** Compiles every room into its dist, through Turborepo where its binary is present. Nothing to do costs milliseconds. */
export async function build() {
  if (isBuilt(fingerprint())) return;
  await withLock("build", async () => {
    const before = fingerprint(); // taken first: a file saved during the build makes the next one build again
    if (isBuilt(before)) return;
    say("building");
    const started = Date.now();
    const status = await tellEvery("still building", compile);
    if (status !== 0) throw new Problem("the build failed, see the compiler's words above");
    fs.writeFileSync(record, before);
    say(`built in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  });
}

async function compile() {
  const turbo = path.join(paths.bin, "turbo");
  if (fs.existsSync(turbo) && fs.existsSync(path.join(paths.modules, "@turbo"))) {
    return runTool(turbo, ["run", "build", "--continue=dependencies-successful", "--output-logs=errors-only", "--log-order=grouped", "--no-color"], { output: "onFailure" });
  }
  return runTool(path.join(paths.bin, "tsc"), ["-b"], { output: "onFailure" });
}

function isBuilt(current) {
  const present = rooms().every((room) => ["index.js", "main.js"].some((door) => fs.existsSync(path.join(room, "dist", door))));
  return present && fs.existsSync(record) && fs.readFileSync(record, "utf8") === current;
}

/** Of every input's path, size and time. */
function fingerprint() {
  const hash = createHash("sha256");
  const note = (file) => {
    const { size, mtimeMs } = fs.statSync(file);
    hash.update(`${path.relative(paths.root, file)} ${size} ${mtimeMs}\n`);
  };
  for (const name of ["package-lock.json", "tsconfig.base.json", "tsconfig.json"]) note(path.join(paths.root, name));
  for (const room of rooms()) {
    for (const name of ["package.json", "tsconfig.json"]) note(path.join(room, name));
    const sources = fs.readdirSync(path.join(room, "src"), { recursive: true, withFileTypes: true });
    const files = sources.filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"));
    for (const file of files.map((entry) => path.join(entry.parentPath, entry.name)).sort()) note(file);
  }
  return hash.digest("hex");
}

function rooms() {
  return ["packages", "apps"].flatMap((kind) => {
    const folder = path.join(paths.root, kind);
    const all = fs.readdirSync(folder).sort().map((name) => path.join(folder, name));
    return all.filter((room) => fs.existsSync(path.join(room, "package.json")));
  });
}
