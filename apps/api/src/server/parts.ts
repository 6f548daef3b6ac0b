import type { ApiConfig } from "@mainstay/config";
import type { Accepted, Channel, Database, FoundKey, NewRun } from "@mainstay/database";
import type { Logger, Metrics, Tracing } from "@mainstay/telemetry";
import type { LogWatch } from "../events/create-log-watch.js";
import type { ProcessHealth } from "../health/process-health.js";
import type { Cursors } from "../pages/cursor.js";
import type { Backpressure } from "../runs/create-backpressure.js";
import type { WorkflowCatalogue } from "../workflows/create-workflow-catalogue.js";

/** What the routes are made of; built once, in `main.ts`. */
export type ApiParts = Readonly<{
  config: ApiConfig;
  database: Database;
  accept: (run: NewRun) => Promise<Accepted>;
  findKey: (keyId: string) => Promise<FoundKey>;
  /** A coalesced hint to other processes, after a commit. */
  hint: (channel: Channel) => void;
  workflows: WorkflowCatalogue;
  backpressure: Backpressure;
  logWatch: LogWatch;
  cursors: Cursors;
  health: ProcessHealth;
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing | undefined;
  /** Aborts when the process begins to stop: streams and long polls end, `ready` turns false. */
  stopping: AbortSignal;
}>;
