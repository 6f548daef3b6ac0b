import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { FailureRegistration } from "../failures/failure-registration.js";
import type { NodeDefinition, RetryOptions } from "../nodes/node-definition.js";

/** What a workflow is made of. */
export type WorkflowDefinition<RunInput> = Readonly<{
  id: string;
  version: string;
  /** For people; default the id. */
  name?: string;
  /** Any Standard Schema. One that can give a JSON Schema is also checked at the door, before a run is accepted. */
  input?: StandardSchemaV1<RunInput>;
  /** The workflow's own failure codes; `card_declined` is thrown and stored as `app.card_declined`. */
  failures?: Readonly<Record<string, FailureRegistration>>;
  /** Retries of nodes that declare none; default 3 retries, 1 s base. */
  retry?: RetryOptions;
  /** Milliseconds a run may take from its acceptance; without it the host's limit holds. */
  runTimeoutMs?: number;
  nodes: Readonly<Record<string, NodeDefinition<RunInput>>>;
}>;
