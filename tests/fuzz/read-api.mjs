import { Ajv2020 } from "ajv/dist/2020.js";

/**
 * What an api says of itself: its operations, each with its parameters, the schema of its body and, by status, a check
 * of what may be answered. Schemas are the served ones, with references resolved in the served document.
 */
export async function readApi(apiUrl) {
  const document = await (await fetch(`${apiUrl}/openapi.json`)).json();
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  ajv.addSchema({ $id: "api", ...document });
  const compile = (at) => ajv.compile({ $ref: `api#${at}` });
  const resolve = (schema) => {
    if (Array.isArray(schema)) return schema.map(resolve);
    if (typeof schema !== "object" || schema === null) return schema;
    if (typeof schema.$ref === "string") return resolve(schema.$ref.split("/").slice(1).reduce((inner, part) => inner[part], document));
    return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, resolve(value)]));
  };
  const pointer = (...parts) => `/${parts.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, described]) => ({
    operationId: described.operationId, method: method.toUpperCase(), path,
    open: described.security?.length === 0,
    parameters: (described.parameters ?? []).map((one) => ({ ...one, schema: resolve(one.schema) })),
    body: resolve(described.requestBody?.content?.["application/json"]?.schema),
    answers: new Map(Object.entries(described.responses).map(([status, { content }]) => [
      Number(status), content?.["application/json"] === undefined ? undefined : compile(pointer("paths", path, method, "responses", status, "content", "application/json", "schema")),
    ])),
  })));
  return { operations, isError: compile("/components/schemas/ErrorEnvelope") };
}
