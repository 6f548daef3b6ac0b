import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { digestCase } from "./digest-case.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = path.join(root, ".data/results/cases");
const results = path.join(root, ".data/results/cases.json");

/** What the last runs answered, by case id: the record of each with the digest it stands on. */
export function readResults() {
  return fs.existsSync(results) ? JSON.parse(fs.readFileSync(results, "utf8")) : {};
}

/**
 * Runs each case at full scale as a process of its own, `jobs` at a time, and tells one line a case as it ends. A case that
 * passed on the same digest is kept unless `fresh`. Answers `{ passed, failed, notRun }`.
 */
export async function runCases(cases, { jobs, fresh, say }) {
  const total = { passed: 0, failed: 0, notRun: 0 };
  const known = readResults();
  const waiting = [...cases];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const digest = digestCase(next.file);
      const kept = !fresh && known[next.id]?.digest === digest && known[next.id].result === "passed";
      if (!kept) say(`${next.id} begins`);
      const record = kept ? known[next.id] : { ...(await runCase(next, say)), digest };
      if (!kept) keep(record);
      for (const line of tellCase(record)) console.log(`${line}${kept ? " (kept)" : ""}`);
      total[record.result === "not run" ? "notRun" : record.result] += 1;
      total.notRun += record.result === "not run" ? 0 : record.notRun.length;
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return total;
}

/** Read again before it is written: another run may have kept something meanwhile. */
function keep(record) {
  const next = `${results}.${process.pid}`;
  fs.writeFileSync(next, `${JSON.stringify({ ...readResults(), [record.id]: record }, undefined, 2)}\n`);
  fs.renameSync(next, results);
}

function runCase({ id, file }, say) {
  fs.mkdirSync(folder, { recursive: true });
  const recorded = path.join(folder, `${id}.full.json`);
  fs.rmSync(recorded, { force: true });
  const log = fs.openSync(path.join(folder, `${id}.log`), "w");
  return new Promise((resolve, reject) => {
    const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
    const child = spawn(process.execPath, [vitest, "run", "--project", "cases", path.relative(root, file)], {
      cwd: root, env: { ...process.env, MAINSTAY_CASES: "full" }, stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        fs.writeSync(log, `${line}\n`);
        if (line.startsWith(`${id} `)) say(line);
      });
    }
    child.once("error", reject);
    child.once("close", (status) => {
      fs.closeSync(log);
      resolve(fs.existsSync(recorded) ? JSON.parse(fs.readFileSync(recorded, "utf8")) : {
        id, title: "", scale: "full", result: "failed", seconds: 0, measures: [], notRun: [], error: `vitest ended with ${status} and left no record; see .data/results/cases/${id}.log`,
      });
    });
  });
}

/** The lines of one case: how it ended, and each part that is not run. */
function tellCase({ id, result, seconds, measures, notRun, error }) {
  const measured = measures.map(({ name, value, unit }) => ` · ${name} ${value}${unit ? ` ${unit}` : ""}`).join("");
  const time = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  const waits = notRun.map(({ part, needs }) => `${id} not run: ${part === "all" ? "" : `${part}: `}needs ${needs}`);
  if (result === "not run") return waits;
  if (result === "failed") return [`${id} FAILED after ${time}: ${(error ?? "see its log").split("\n").slice(0, 6).join("\n    ")}`, ...waits];
  return [`${id} passed in ${time}${measured}`, ...waits];
}
