import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";

/** What Postgres says of a text it cannot read: such a mutant proves nothing. */
const UNREADABLE = /syntax error at|does not exist|could not determine data type|missing FROM-clause/;

/**
 * Runs the tests of `file` in a tree whose names contain `name`; answers `{ passed, failed: [{ name, why }] }`.
 * Throws when no test was run, or when what failed is the mutant's own text and not the guard's absence.
 */
export async function runTests({ root, tree, file, names }) {
  const report = path.join(tree, "report.json");
  rmSync(report, { force: true });
  const pattern = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--config", path.join(root, "tests/mutants/vitest.config.mjs"), "--reporter=json", `--outputFile=${report}`, "-t", pattern, file];
  const said = await spawned(process.execPath, args, { cwd: tree, env: { ...process.env, MAINSTAY_MUTANT_TREE: tree } });
  const tests = readReport(report, said).testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status !== "skipped" && status !== "pending");
  if (tests.length === 0) throw new Error(`no test of ${file} has "${names.join('" or "')}" in its name, or the file could not be loaded:\n${said.slice(-2000)}`);
  const failed = tests.filter(({ status }) => status === "failed").map(({ fullName, failureMessages }) => ({ name: fullName, why: failureMessages.join("\n") }));
  const unreadable = failed.find(({ why }) => UNREADABLE.test(why));
  if (unreadable) throw new Error(`the text cannot be executed:\n${unreadable.why.slice(0, 500)}`);
  return { passed: tests.length - failed.length, failed };
}

function readReport(report, said) {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    throw new Error(`vitest wrote no report:\n${said.slice(-2000)}`);
  }
}

/** Everything a program says; its status is told by its report. */
function spawned(program, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => { said += chunk; });
    child.on("error", reject);
    child.on("close", () => resolve(said));
  });
}
