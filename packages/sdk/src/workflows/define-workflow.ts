import type { NodeDocument, WorkflowDocument } from "@mainstay/domain";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { codeType, type NodeDefinition } from "../nodes/node-definition.js";
import { verifyWorkflow } from "./verify-workflow.js";
import type { NodeCode, Workflow } from "./workflow.js";
import type { WorkflowDefinition } from "./workflow-definition.js";

/** Retries of a node that declares none, and of a workflow that declares none. */
const defaultRetry = { maxRetries: 3, baseMs: 1_000 } as const;

/**
 * Defines a workflow: a graph of nodes whose completions are durable checkpoints.
 *
 * @throws Error naming every problem at once: cycles (with their path), missing dependencies, missing or infinite
 * retry bounds, minted `platform.*` codes, ids outside the grammar.
 */
export function defineWorkflow<RunInput = unknown>(definition: WorkflowDefinition<RunInput>): Workflow {
  const problems = verifyWorkflow(definition as unknown as WorkflowDefinition<never>);
  if (problems.length > 0) {
    throw new Error(`workflow "${definition.id}" is refused:\n${problems.map((one) => `  ${one}`).join("\n")}`);
  }
  const inputSchema = definition.input;
  return Object.freeze({
    document: toDocument(definition),
    code: toCode(definition),
    ...(inputSchema === undefined ? {} : { inputSchema }),
  });
}

function toDocument<RunInput>(definition: WorkflowDefinition<RunInput>): WorkflowDocument {
  const retry = { ...defaultRetry, ...definition.retry };
  const inputSchema = toJsonSchema(definition.input);
  return {
    id: definition.id,
    version: definition.version,
    name: definition.name ?? definition.id,
    nodes: Object.entries(definition.nodes).map(([id, node]) => toNode(id, node, retry)),
    triggers: ["manual"],
    settings: definition.runTimeoutMs === undefined ? {} : { runTimeoutMs: definition.runTimeoutMs },
    ...(inputSchema === undefined ? {} : { inputSchema }),
    failures: Object.fromEntries(
      Object.entries(definition.failures ?? {}).map(([code, registration]) => [
        code,
        { class: registration.class, message: registration.message, remediation: registration.remediation },
      ]),
    ),
  };
}

function toNode<RunInput>(
  id: string,
  node: NodeDefinition<RunInput>,
  retry: NodeDocument["retry"],
): NodeDocument {
  return {
    id,
    typeId: "run" in node ? (node.typeId ?? codeType) : node.type,
    after: [...new Set(node.after ?? [])],
    retry: node.retry === undefined ? retry : { maxRetries: node.retry.maxRetries, baseMs: node.retry.baseMs ?? defaultRetry.baseMs },
    timeoutMs: node.timeoutMs ?? 0,
    optional: node.optional ?? false,
    requires: {
      credentials: node.requires?.credentials ?? [],
      tools: node.requires?.tools ?? [],
      destinations: node.requires?.destinations ?? [],
    },
    // An input function of a built-in node is code too: the worker must have it to serve the run.
    config: "run" in node ? {} : { ...node.config, ...(node.input === undefined ? {} : { mapped: true }) },
  };
}

function toCode<RunInput>(definition: WorkflowDefinition<RunInput>): Readonly<Record<string, NodeCode>> {
  const code: Record<string, NodeCode> = {};
  for (const [id, node] of Object.entries(definition.nodes)) {
    const own: NodeCode = {
      ...("run" in node ? { run: node.run } : {}),
      ...(node.input === undefined ? {} : { input: node.input }),
    };
    if (own.run !== undefined || own.input !== undefined) code[id] = own;
  }
  return code;
}

/** A schema that cannot be said in JSON Schema is checked in the worker alone. */
function toJsonSchema(schema: StandardSchemaV1 | undefined): Record<string, unknown> | undefined {
  if (schema === undefined) return undefined;
  const { jsonSchema } = schema["~standard"] as Partial<StandardJSONSchemaV1["~standard"]>;
  if (jsonSchema === undefined) return undefined;
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch {
    return undefined;
  }
}
