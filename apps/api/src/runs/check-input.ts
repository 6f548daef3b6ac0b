import { Refusal } from "../server/refusal.js";
import type { InputCheck } from "../workflows/create-input-check.js";

/** Refuses an input that is too large or does not fit the workflow's schema, naming field and rule. */
export function checkInput(canonical: string, input: unknown, limits: { workflow: { workflowId: string; checkInput: InputCheck }; maxBytes: number }): void {
  const bytes = Buffer.byteLength(canonical);
  if (bytes > limits.maxBytes) {
    throw new Refusal("payload_too_large", `inputs: ${String(bytes)} bytes are more than ${String(limits.maxBytes)}; pass data by reference`, {
      details: { limit: "MAINSTAY_INPUT_MAX_BYTES", maxBytes: limits.maxBytes },
    });
  }
  const fault = limits.workflow.checkInput(input);
  if (fault === undefined) return;
  if (fault.kind === "schema_broken") {
    throw new Refusal("node_config_invalid", `the input schema of "${limits.workflow.workflowId}" cannot be compiled: ${fault.message}`);
  }
  throw new Refusal("validation_error", `${fault.field}: ${fault.message}`, { details: { field: fault.field } });
}
