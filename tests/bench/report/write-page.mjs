import fs from "node:fs";
import path from "node:path";
import { paths } from "../../../infra/dev/paths.mjs";
import { median } from "../measure/percentile.mjs";
import { drawChart } from "./draw-chart.mjs";
import { floorRows, tableOf, writeTable } from "./write-table.mjs";

const folder = path.join(paths.root, "docs/reference");
const mark = "<!-- below: written by hand -->";

/** Writes docs/reference/bench.md and its picture; what stands below the mark is kept. */
export function writePage({ results, summary, verdicts, rounds }) {
  const { machine } = summary;
  const file = path.join(folder, "bench.md");
  const kept = fs.existsSync(file) ? fs.readFileSync(file, "utf8").split(mark)[1] ?? "\n" : "\n";
  const killed = (workload) => {
    const of = (figure) => Math.round(median(results.filter((one) => one.workload === workload).map(figure)) ?? NaN);
    return `first ${of((r) => r.firstMs)} ms, all ${of((r) => r.allMs)} ms`;
  };
  const text = `# Bench

Printed by \`npm run bench\`; do not edit above the mark. Medians of ${rounds} rounds, every system in turn on the same Postgres (fsync and synchronous_commit on) and the same Redis (append-only file, synced every second), one HTTP process and two workers each, load from the same machine: ${machine.cpus} CPUs (${machine.cpu}), ${machine.memoryGb} GB, Node ${machine.node}, Postgres ${machine.postgres}. Rates of a small shared machine swing; ratios inside one round and CPU milliseconds per run say more.

Mainstay runs as it ships: a key is checked, the body validated, the run fenced, every step recorded, a relay and a supervisor beside. BullMQ forgets up to a second of acknowledged jobs and has no fence; it is here as the fastest that there is.

![Rates](bench.svg)

${writeTable(tableOf(results))}

## Floors

${writeTable(floorRows(verdicts))}

A SIGKILLed worker: ${killed("W4")} until re-executed with the death watch; ${killed("W4 no watch")} without it. Recorded steps executed again: ${results.reduce((sum, { doubles = 0, label }) => sum + (label === "mainstay" ? doubles : 0), 0)}.

${mark}${kept}`;
  fs.writeFileSync(file, text);
  fs.writeFileSync(path.join(folder, "bench.svg"), drawChart(results));
  fs.mkdirSync(path.join(paths.data, "bench"), { recursive: true });
  fs.writeFileSync(path.join(paths.data, "bench/results.json"), JSON.stringify({ results, summary }, null, 1));
}
