import { processMetrics } from "./process-metrics.js";
import { recoveryMetrics } from "./recovery-metrics.js";
import { runMetrics } from "./run-metrics.js";

/** Every metric Mainstay reports, by the name code calls it. */
export const catalogue = { ...runMetrics, ...recoveryMetrics, ...processMetrics } as const;

/** The catalogue in the groups that the reference prints. */
export const metricGroups = [
  { title: "Runs", metrics: runMetrics },
  { title: "Liveness, recovery, effects, dead letters", metrics: recoveryMetrics },
  { title: "Broker, HTTP, database, process", metrics: processMetrics },
] as const;
