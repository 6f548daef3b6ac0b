import fs from "node:fs";
import path from "node:path";
import { paths } from "../paths.mjs";
import { say } from "../say.mjs";
import { runTool } from "../set-up/run-tool.mjs";
import { setUp } from "../set-up/set-up.mjs";
import { runLanes } from "../testing/run-lanes.mjs";

/** `.ci/run`: every step, also after a failing one; ends with the plain line `N passed, N failed` over all of them. */
export async function run() {
  process.env.CI ||= "true"; // what is not run fails here
  const total = { passed: 0, failed: 0 };
  for (const step of steps()) {
    const started = Date.now();
    say(`\n=== ${step.name} ===`);
    const { passed, failed } = await step.work().catch((error) => {
      console.error(error.name === "Problem" ? error.message : error);
      return { passed: 0, failed: 1 };
    });
    total.passed += passed;
    total.failed += failed;
    say(`=== ${step.name}: ${failed ? "FAILED" : "ok"} in ${Math.round((Date.now() - started) / 1000)} s ===`);
    if (failed && step.name === "build") break;
  }
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

/** A lane that this clone does not hold is no step. Whole scripts count as one, lanes by their tests. */
function steps() {
  const script = (name, ...args) => ({ name: [name, ...args].join(" "), work: () => runScriptOnce(name, args) });
  const lanes = (...names) => ({ name: names.join(", "), work: () => runLanes(names) });
  const present = (folder, step) => (holdsTests(path.join(paths.root, folder)) ? [step] : []);
  return [
    { name: "build", work: async () => { await setUp(); return { passed: 1, failed: 0 }; } },
    script("lint"),
    script("check"),
    ...present("tests/architecture", lanes("architecture")),
    script("docs", "--check"),
    script("check-schema"),
    lanes("unit", "integration", "chaos", "cases"),
    ...present("tests/tenancy", lanes("tenancy")),
    ...present("tests/idle", lanes("idle")),
    ...present("tests/sim", script("test-sim", "--seeds", "300")),
    ...present("tests/fuzz", script("test-fuzz", "--quick")),
    ...present("tests/mutants", script("test-mutants", "--quick")),
    ...present("tests/soak", script("test-soak", "--quick")),
    ...present("tests/bench", script("bench", "--quick")),
    ...present("infra/dev/main-job", script("start", "--exit")),
  ];
}

async function runScriptOnce(name, args) {
  const status = await runTool(process.execPath, [path.join(paths.root, "infra/dev/run.mjs"), name, ...args], { output: "stdout" });
  return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

function holdsTests(folder) {
  return fs.existsSync(folder) && fs.readdirSync(folder).some((name) => /\.test\.ts$|^run\.mjs$/.test(name));
}
