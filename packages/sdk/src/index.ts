export * from "./client/client-error.js";
export { createClient, type Client } from "./client/create-client.js";
export type { CreatedRun, CreateRunOptions, RunResult, RunsClient, StreamOptions } from "./client/runs-client.js";
export type { ClientOptions } from "./client/transport.js";
export type {
  Effect, EffectCall, EffectOptions, ReconcileAnswer, ReconcileCall,
} from "./effects/effect-options.js";
export { workflowFailureClasses, type FailureRegistration } from "./failures/failure-registration.js";
export { NotApplied } from "./failures/not-applied.js";
export { toFailureCode } from "./failures/to-failure-code.js";
export { WorkflowFailure, type FailureDetail } from "./failures/workflow-failure.js";
export type { Done, NodeContext, NodeLogger, NodeRun, Recorded } from "./nodes/node-context.js";
export {
  builtInNodeTypes, codeType, type BuiltInNode, type CodeNode, type NodeDefinition, type NodeOptions,
  type NodeRequires, type RetryOptions,
} from "./nodes/node-definition.js";
export { defineWorkflow } from "./workflows/define-workflow.js";
export { verifyWorkflow } from "./workflows/verify-workflow.js";
export type { WorkflowDefinition } from "./workflows/workflow-definition.js";
export type { NodeCode, Workflow } from "./workflows/workflow.js";
export type { NodeDocument, WorkflowDocument } from "@mainstay/domain";
export { delayRule, isDelayMs } from "@mainstay/contract";
