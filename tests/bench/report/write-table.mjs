import { median } from "../measure/percentile.mjs";
import { systems } from "../systems/start-system.mjs";

/** Every system's medians as rows of text, for the terminal and for the page. */
export function tableOf(results) {
  const head = ["", "accept/s", "CPU ms per accept", "no-op/s", "p50 / p99, ms", "CPU ms per no-op", "steady 200/s p50 / p99, ms", "steady CPU %", "five steps/s", "CPU ms per five"];
  const rows = systems.map(({ label }) => {
    const of = (workload, figure) => show(median(results.filter((one) => one.label === label && one.workload === workload).map(figure)));
    const steady = (name) => of("W2", (one) => one.steady[200]?.[name]);
    return [label, of("W1", (r) => r.perSecond), of("W1", (r) => r.cpuMsPerRun), of("W2", (r) => r.perSecond),
      `${of("W2", (r) => r.p50Ms)} / ${of("W2", (r) => r.p99Ms)}`, of("W2", (r) => r.cpuMsPerRun),
      `${steady("p50Ms")} / ${steady("p99Ms")}`, steady("cpuPercent"), of("W3", (r) => r.perSecond), of("W3", (r) => r.cpuMsPerRun)];
  });
  return { head, rows };
}

/** The floors as rows of text. */
export function floorRows(verdicts) {
  return {
    head: ["", "value", "floor", "goal", ""],
    rows: verdicts.map(({ name, value, floor, goal, most, ok }) => [
      name, show(value ?? undefined), `${most ? "≤" : "≥"} ${floor}`, `${most ? "≤" : "≥"} ${goal}`, ok === undefined ? "not measured" : ok ? "ok" : "MISSED",
    ]),
  };
}

/** Markdown, padded so that it reads as well in a terminal. */
export function writeTable({ head, rows }) {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}

function show(value) {
  if (value === undefined || !Number.isFinite(value)) return "–";
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
}
