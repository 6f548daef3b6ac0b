import { delayRule, isDelayMs } from "@mainstay/contract";
import { resolveConfig, type WorkflowDocument } from "@mainstay/domain";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

/** What is wrong with an input: the member's path below `inputs`, and what was expected of it. */
export type InputFault = { kind: "invalid"; field: string; message: string } | { kind: "schema_broken"; message: string };

/** Checks one input against a workflow's schema; `undefined` when it fits. */
export type InputCheck = (input: unknown) => InputFault | undefined;

/** Checks inputs against a workflow's schema, where it has one, and the delays that they bind. */
export function createInputCheck(document: Pick<WorkflowDocument, "inputSchema" | "nodes">): InputCheck {
  const checkSchema = createSchemaCheck(document.inputSchema);
  const delays = document.nodes.filter(({ typeId, config }) => typeId === "core.delay" && config["mapped"] !== true);
  return (input) => {
    const fault = checkSchema(input);
    if (fault !== undefined) return fault;
    const wrong = delays.find(({ config }) => !isDelayMs(resolveConfig(config, input)["delayMs"]));
    if (wrong === undefined) return undefined;
    const bound = (wrong.config["delayMs"] as { $input?: string } | undefined)?.$input;
    return { kind: "invalid", field: bound === undefined ? "inputs" : `inputs.${bound}`, message: `the delay of node "${wrong.id}" must be ${delayRule}` };
  };
}

/** Compiles the schema on first use. Without one every input fits. */
function createSchemaCheck(schema: Readonly<Record<string, unknown>> | undefined): InputCheck {
  if (schema === undefined) return () => undefined;
  let validate: ValidateFunction | undefined;
  return (input) => {
    try {
      // One instance a schema: `$id`s of different workflows never meet.
      validate ??= new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
    } catch (error) {
      return { kind: "schema_broken", message: error instanceof Error ? error.message : String(error) };
    }
    if (validate(input)) return undefined;
    const [first] = validate.errors ?? [];
    return { kind: "invalid", field: fieldOf(first), message: first?.message ?? "does not fit the schema" };
  };
}

function fieldOf(error: ErrorObject | undefined): string {
  const pointer = error?.instancePath ?? "";
  const path = pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const named = (error?.params as { missingProperty?: string; additionalProperty?: string } | undefined) ?? {};
  const member = named.missingProperty ?? named.additionalProperty;
  return ["inputs", ...path, ...(member === undefined ? [] : [member])].join(".");
}
