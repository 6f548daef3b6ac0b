import type { BuiltInType } from "@mainstay/domain";
import type { Done, NodeContext, NodeRun } from "./node-context.js";

/** Node types that the worker brings along. */
export const builtInNodeTypes = [
  "core.noop", "core.identity", "core.delay", "core.fail", "http.request",
] as const satisfies readonly BuiltInType[];

/** The wire's type of a code node that names none of its own. */
export const codeType = "mainstay.code";

/** How often and how fast a failed node is tried again. */
export type RetryOptions = Readonly<{
  /** Retries after the first attempt: an integer from 0 to 1,000. */
  maxRetries: number;
  /** Milliseconds before the first retry, doubled each time; default 1,000. */
  baseMs?: number;
}>;

/** What a node needs to be allowed to run, by name. Checked at decisions, at claims and before launches. */
export type NodeRequires = Readonly<{
  credentials?: readonly string[];
  tools?: readonly string[];
  destinations?: readonly string[];
}>;

/** What code nodes and built-in nodes share. */
export type NodeOptions<RunInput> = Readonly<{
  /** Nodes whose completion this one waits for. */
  after?: readonly string[];
  /** Makes the node's input of the finished nodes before it. Pure: it may run more than once. */
  input?: (done: Done, run: NodeRun<RunInput>) => unknown;
  retry?: RetryOptions;
  /** Milliseconds one execution may take; without it only the run's deadline holds. */
  timeoutMs?: number;
  /** When true, its failure makes a dead letter of its own and the run goes on. */
  optional?: boolean;
  requires?: NodeRequires;
}>;

/** A node that runs code. What `run` returns is recorded as JSON. */
export type CodeNode<RunInput> = NodeOptions<RunInput> &
  Readonly<{
    type?: typeof codeType;
    /** The type shown on the wire; default `mainstay.code`. */
    typeId?: string;
    run: (context: NodeContext<RunInput>) => unknown;
  }>;

/** A node of a built-in type. Its `config` is fixed; what `input` returns is laid over it. */
export type BuiltInNode<RunInput> = NodeOptions<RunInput> &
  Readonly<{ type: BuiltInType; config?: Readonly<Record<string, unknown>> }>;

/** One node of a workflow. */
export type NodeDefinition<RunInput> = CodeNode<RunInput> | BuiltInNode<RunInput>;
