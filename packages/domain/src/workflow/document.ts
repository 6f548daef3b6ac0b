import type { FailureClass } from "../failure/classes.js";

/** The types the engine brings; every other type is code. */
export const builtInTypes = ["core.noop", "core.identity", "core.delay", "core.fail", "http.request"] as const;

/** The type of the crash fixture: served by workers outside production alone. */
export const crashType = "mainstay.crash";
/** A node type that every worker brings. */
export type BuiltInType = (typeof builtInTypes)[number];
/** Whether every worker brings this node type. */
export const isBuiltIn = (typeId: string): typeId is BuiltInType => (builtInTypes as readonly string[]).includes(typeId);

/** One node of a definition, as stored. */
export type NodeDocument = {
  id: string;
  typeId: string;
  after: readonly string[];
  retry: { maxRetries: number; baseMs: number };
  /** Milliseconds one execution may take; 0: none of its own, the run's deadline holds. */
  timeoutMs: number;
  /** An optional node's failure does not end the run. */
  optional: boolean;
  /** A value `{ $input: "name", default? }` anywhere inside stands for that member of the run's input. */
  config: Readonly<Record<string, unknown>>;
  requires?: { credentials?: readonly string[]; tools?: readonly string[]; destinations?: readonly string[] };
};

/** What is pinned by `specHash`: the graph and its bounds, never code. */
export type WorkflowDocument = {
  id: string;
  name: string;
  version: string;
  nodes: readonly NodeDocument[];
  triggers: readonly string[];
  settings: { runTimeoutMs?: number };
  /** JSON Schema of the input, when the workflow has one. */
  inputSchema?: Readonly<Record<string, unknown>>;
  /** The workflow's own failure codes, without the prefix `app.`. */
  failures: Readonly<Record<string, { class: FailureClass; message: string; remediation: string }>>;
};

/**
 * What a worker must have to serve a document: built-in types by name, code by workflow and version of its document.
 * `specHash` is the document's.
 */
export function capabilitiesOf(document: WorkflowDocument, specHash: string): string[] {
  const needs = new Set<string>();
  for (const node of document.nodes) {
    needs.add(isBuiltIn(node.typeId) || node.typeId === crashType ? node.typeId : codeCapability(document.id, specHash));
  }
  // the input mapping of a built-in node is code too; such a workflow names its code
  if (document.nodes.some((node) => node.config["mapped"] === true)) needs.add(codeCapability(document.id, specHash));
  return [...needs].sort();
}

/** The capability of having the code of one definition. */
export const codeCapability = (workflowId: string, specHash: string): string => `code:${workflowId}@${specHash.slice(0, 16)}`;

/** The key of a requirement: pool and capabilities, readable in a diagnosis. */
export const requirementKey = (pool: string, capabilities: readonly string[]): string => `${pool}/${capabilities.join("+")}`;
