import type { HeldRun } from "../runs/held-run.js";

/**
 * Checks the run's input against the schema that the workflow was defined with; the api has checked what JSON Schema can
 * say. A schema that itself throws is a failure of the workflow's code.
 */
export async function refuseInput({ workflow, claimed }: HeldRun): Promise<string | undefined> {
  const schema = workflow.workflow?.inputSchema;
  if (schema === undefined || claimed.checkpointNo > 0) return undefined;
  try {
    const checked = await schema["~standard"].validate(claimed.input);
    return checked.issues === undefined ? undefined : "platform.schema_invalid";
  } catch {
    return "platform.unclassified";
  }
}
