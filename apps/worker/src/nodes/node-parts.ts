import type { Egress } from "@mainstay/egress";
import type { EffectParts } from "../effects/effect-parts.js";
import type { Execution, HeldRun } from "../runs/held-run.js";

export type NodeLog = (level: "debug" | "info" | "warn" | "error", message: string, fields: Record<string, unknown>) => void;

export type NodeParts = {
  effects: EffectParts;
  egress: Egress;
  /** The largest output of one node, and of all nodes of a run together. */
  outputMaxBytes: number;
  runOutputMaxBytes: number;
  log: NodeLog;
  onUnclassified: (workflowId: string) => void;
  /** A failure code when the input does not fit the workflow's own schema; asked once a claim. */
  refuseInput: (run: HeldRun) => Promise<string | undefined>;
};

/** What a built-in type is given: its resolved config, and what its predecessor passed on. */
export type TypeCall = {
  parts: NodeParts; run: HeldRun; execution: Execution; config: Record<string, unknown>;
  continued: boolean; failures: number; previous: unknown;
};
