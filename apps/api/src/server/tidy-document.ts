import { describeAnswers } from "./describe-answers.js";

type Json = Record<string, unknown>;

type Document = { paths?: Record<string, Record<string, Json>>; components?: { schemas?: Record<string, unknown> } };

/**
 * Makes a generated OpenAPI document say what is true: a body that may be left out is not required, what every request
 * may bear and get is listed, and a schema that nothing refers to is not.
 */
export function tidyDocument<Generated extends object>(generated: Generated): Generated {
  const document = generated as Document;
  for (const [method, operation] of Object.values(document.paths ?? {}).flatMap((path) => Object.entries(path))) {
    const body = operation["requestBody"] as { required?: boolean } | undefined;
    if (body !== undefined && JSON.stringify(body).includes('{"type":"null"}')) body.required = false;
    describeAnswers(operation, method);
  }
  const schemas = document.components?.schemas ?? {};
  const needed = new Set<string>();
  const look = (value: unknown): void => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (needed.has(name)) continue;
      needed.add(name);
      look(schemas[name] ?? {});
    }
  };
  look(document.paths ?? {});
  for (const name of Object.keys(schemas)) if (!needed.has(name)) Reflect.deleteProperty(schemas, name);
  return generated;
}
