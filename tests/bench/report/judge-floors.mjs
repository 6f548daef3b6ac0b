/** What must hold of the summary: `floor` is what `--check` wants, `goal` where we aim. `most` tells that less is better. */
const floors = [
  { name: "accept/s ÷ best pg-boss", of: (s) => s.ratios["W1.pgboss"], floor: 1.7, goal: 2.5 },
  { name: "accept/s ÷ graphile-worker", of: (s) => s.ratios["W1.graphile"], floor: 2.5, goal: 4 },
  { name: "accept/s ÷ BullMQ", of: (s) => s.ratios["W1.bullmq"], floor: 0.4, goal: 0.6 },
  { name: "no-op end to end ÷ best pg-boss", of: (s) => s.ratios["W2.pgboss"], floor: 1.3, goal: 2 },
  { name: "no-op end to end ÷ BullMQ", of: (s) => s.ratios["W2.bullmq"], floor: 0.45, goal: 0.7 },
  { name: "five recorded steps ÷ BullMQ", of: (s) => s.ratios["W3.bullmq"], floor: 0.5, goal: 0.85 },
  { name: "SIGKILL → first re-executed, ms", of: (s) => s.killToFirstReexecutedMs, floor: 1_000, goal: 250, most: true },
  { name: "SIGKILL → all re-executed, ms", of: (s) => s.killToAllReexecutedMs, floor: 1_000, goal: 250, most: true },
  { name: "idle statements/s, five processes", of: (s) => s.idleStatementsPerSecond, floor: 10, goal: 8, most: true },
  { name: "drain with 300,000 waiting ÷ without", of: (s) => s.ratios["W6.empty"], floor: 0.8, goal: 1 },
  { name: "steady 200/s: p50, ms", of: (s) => s.steady[200].p50Ms, floor: 20, goal: 8, most: true },
  { name: "steady 200/s: CPU ÷ graphile-worker", of: (s) => s.steady[200].cpuToGraphile, floor: 1.3, goal: 1, most: true },
  { name: "CPU ms per accept", of: (s) => s.cpuMsPerRun.accept, floor: 0.6, goal: 0.35, most: true },
  { name: "CPU ms per no-op run", of: (s) => s.cpuMsPerRun.noop, floor: 1.6, goal: 1, most: true },
  { name: "CPU ms per run of five steps", of: (s) => s.cpuMsPerRun.five, floor: 3.5, goal: 2.2, most: true },
];

/** Each floor with its value and verdict; what was not measured is no verdict (`value` null, `ok` undefined). */
export function judgeFloors(summary) {
  return floors.map(({ name, of, floor, goal, most = false }) => {
    const value = of(summary);
    const ok = value === null ? undefined : most ? value <= floor : value >= floor;
    return { name, value, floor, goal, most, ok };
  });
}
