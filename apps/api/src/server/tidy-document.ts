type Json = Record<string, unknown>;

type Document = { paths?: Record<string, Record<string, Json>>; components?: { schemas?: Record<string, unknown> } };

/**
 * Makes a generated OpenAPI document say what is true: a body that may be left out is not required, and a schema that
 * nothing refers to is not listed.
 */
export function tidyDocument<Generated extends object>(generated: Generated): Generated {
  const document = generated as Document;
  for (const operation of Object.values(document.paths ?? {}).flatMap((path) => Object.values(path))) {
    const body = operation["requestBody"] as { required?: boolean } | undefined;
    if (body !== undefined && JSON.stringify(body).includes('{"type":"null"}')) body.required = false;
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
