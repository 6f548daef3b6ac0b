import fc from "fast-check";

/** Values that a JSON schema allows: what our documents use of it, and no more. Depth is bounded. */
export function fromSchema(schema = {}, depth = 0) {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return fc.oneof(...options.map((one) => fromSchema(one, depth)));
  if (schema.allOf !== undefined) return fromSchema(Object.assign({}, ...schema.allOf), depth);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string": return fromText(schema);
    case "integer": return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000_000, 2 ** 31) });
    case "number": return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case "boolean": return fc.boolean();
    case "null": return fc.constant(null);
    case "array": return fc.array(fromSchema(schema.items, depth + 1), { minLength: schema.minItems ?? 0, maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? 4, 4)) });
    case "object": return fromMembers(schema, depth);
    default: return depth > 3 ? fc.constant(null) : fc.jsonValue({ maxDepth: 2 });
  }
}

function fromText({ pattern, minLength = 0, maxLength = 40 }) {
  if (pattern === undefined) return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
  return fc.stringMatching(new RegExp(pattern)).filter((text) => text.length >= minLength && text.length <= maxLength);
}

function fromMembers({ properties = {}, required = [], additionalProperties }, depth) {
  const named = fc.record(Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, fromSchema(inner, depth + 1)])), { requiredKeys: required });
  if (additionalProperties === undefined || additionalProperties === false || depth > 3) return named;
  const more = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fromSchema(additionalProperties === true ? {} : additionalProperties, depth + 1), { maxKeys: 3 });
  return fc.tuple(more, named).map(([some, known]) => ({ ...some, ...known }));
}
