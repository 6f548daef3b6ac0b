/**
 * A node's config with every `{ $input: "name", default? }` replaced by that member of the run's input. A member that
 * is absent and has no default is left out.
 */
export function resolveConfig(config: Readonly<Record<string, unknown>>, input: unknown): Record<string, unknown> {
  const given: Readonly<Record<string, unknown>> = typeof input === "object" && input !== null && !Array.isArray(input) ? { ...input } : {};
  return resolveMembers(config, given);
}

function resolveMembers(members: Readonly<Record<string, unknown>>, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const resolved = Object.entries(members).map(([name, value]) => [name, resolveValue(value, given)] as const);
  return Object.fromEntries(resolved.filter(([, value]) => value !== undefined));
}

function resolveValue(value: unknown, given: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return value.map((inner) => resolveValue(inner, given));
  if (typeof value !== "object" || value === null) return value;
  const members: Readonly<Record<string, unknown>> = { ...value };
  if (typeof members["$input"] !== "string") return resolveMembers(members, given);
  return Object.hasOwn(given, members["$input"]) ? given[members["$input"]] : members["default"];
}
