import fs from "node:fs";
import path from "node:path";
import { paths } from "../paths.mjs";
import { say } from "../say.mjs";
import { runTool } from "../set-up/run-tool.mjs";

/**
 * Runs the named projects of vitest.config.ts one after the other, also after a failing one, and answers
 * `{ passed, failed, notRun }` over all of them. `args` go to vitest as they are (file filters, -t …).
 */
export async function runLanes(lanes, args = []) {
  const total = { passed: 0, failed: 0, notRun: 0 };
  for (const lane of lanes) {
    say(`\n— ${lane} —`);
    const { passed, failed, notRun } = await runLane(lane, args);
    total.passed += passed;
    total.failed += failed;
    total.notRun += notRun;
  }
  return total;
}

async function runLane(lane, args) {
  const report = path.join(paths.data, "results", `${lane}.json`);
  fs.rmSync(report, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const vitest = path.join(paths.modules, "vitest/vitest.mjs");
  const status = await runTool(process.execPath, [vitest, "run", "--project", lane, "--passWithNoTests", ...reporters, ...args], {
    output: "stdout",
  });
  return count(report, status);
}

/** A file that could not be loaded, and a run that fails without a failing test, count as one failure each; a test that said it is not run counts as neither. */
function count(report, status) {
  if (!fs.existsSync(report)) return { passed: 0, failed: status === 0 ? 0 : 1, notRun: 0 };
  const { numPassedTests: passed, numFailedTests, numPendingTests: notRun, testResults } = JSON.parse(fs.readFileSync(report, "utf8"));
  const unloaded = testResults.filter((file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"));
  const failed = numFailedTests + unloaded.length;
  return { passed, failed: failed === 0 && status !== 0 ? 1 : failed, notRun };
}
