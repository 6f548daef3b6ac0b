import type { WorkflowDocument } from "@mainstay/domain";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Done, NodeContext, NodeRun, Recorded } from "../nodes/node-context.js";

/** The code of one node: a code node has `run`, any node may have `input`. */
export type NodeCode = Readonly<{
  run?: (context: NodeContext<Recorded>) => unknown;
  input?: (done: Done, run: NodeRun<Recorded>) => unknown;
}>;

/** A defined workflow: the document that is stored, and the code that stays in the worker. */
export type Workflow = Readonly<{
  document: WorkflowDocument;
  /** By node id; nodes without code of their own are absent. */
  code: Readonly<Record<string, NodeCode>>;
  /** The schema of the run's input as it was given, for a check in the worker. */
  inputSchema?: StandardSchemaV1;
}>;
