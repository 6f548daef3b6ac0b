import os from "node:os";
import { median } from "../measure/percentile.mjs";
import { systems } from "../systems/start-system.mjs";

/** The figures of `--json` out of every round's results: medians, and ratios taken inside each round. A figure that was not measured is null. */
export function summarise(results, { version }) {
  const rounds = [...new Set(results.map(({ round }) => round))];
  const pick = (round, workload, label) => results.find((one) => one.round === round && one.workload === workload && one.label === label);
  const over = (figure) => rounded(median(rounds.map((round) => figure((workload, label = "mainstay") => pick(round, workload, label)))));
  const ratio = (workload, peer) => over((at) => at(workload)?.perSecond / best(peer, (label) => at(workload, label)?.perSecond));
  const steady = (rate) => Object.fromEntries(["p50Ms", "p99Ms", "cpuPercent"].map((name) => [name, over((at) => at("W2")?.steady[rate]?.[name])]));
  return {
    ratios: {
      "W1.bullmq": ratio("W1", "bullmq"), "W1.pgboss": ratio("W1", "pgboss"), "W1.graphile": ratio("W1", "graphile"),
      "W2.bullmq": ratio("W2", "bullmq"), "W2.pgboss": ratio("W2", "pgboss"), "W2.graphile": ratio("W2", "graphile"),
      "W3.bullmq": ratio("W3", "bullmq"),
      "W6.empty": over((at) => at("W6 many")?.perSecond / at("W6 few")?.perSecond),
    },
    cpuMsPerRun: { accept: over((at) => at("W1")?.cpuMsPerRun), noop: over((at) => at("W2")?.cpuMsPerRun), five: over((at) => at("W3")?.cpuMsPerRun) },
    steady: {
      50: steady(50),
      200: { ...steady(200), cpuToGraphile: over((at) => at("W2")?.steady[200]?.cpuPercent / at("W2", "graphile")?.steady[200]?.cpuPercent) },
    },
    killToFirstReexecutedMs: over((at) => at("W4")?.firstMs),
    killToAllReexecutedMs: over((at) => at("W4")?.allMs),
    idleStatementsPerSecond: rounded(results.find(({ workload }) => workload === "W5")?.statementsPerSecond),
    machine: { cpus: os.cpus().length, cpu: os.cpus()[0]?.model ?? "unknown", memoryGb: Math.round(os.totalmem() / 2 ** 30), node: process.version, postgres: version },
  };
}

function best(peer, rateOf) {
  return Math.max(...systems.filter((system) => system.peer === peer).map(({ label }) => rateOf(label)));
}

const rounded = (value) => (Number.isFinite(value) ? Number(value.toPrecision(3)) : null);
