/**
 * One SQL statement of the house: `name` is `noun.verb`, `text` its only text. The name stands in the text too, behind
 * its first word, where `pg_stat_statements` keeps it.
 *
 * `plan: "custom"` is for the few lists whose best plan depends on the values: they are sent without a name, so that
 * Postgres never settles on a generic plan for them.
 */
export type Statement<Row> = {
  readonly name: string;
  readonly text: string;
  readonly plan: "generic" | "custom";
  /** Never set: carries the row's type. */
  readonly row?: Row;
};

const registry = new Map<string, Statement<unknown>>();

/** Every statement defined so far, by name: read by the pause harness, the architecture test and the docs. */
export const statements: ReadonlyMap<string, Statement<unknown>> = registry;

/** Defines a statement once. Throws when the name is taken: one name, one text. */
export function statement<Row>(
  name: string,
  text: string,
  { plan = "generic" }: { plan?: "generic" | "custom" } = {},
): Statement<Row> {
  if (registry.has(name)) throw new Error(`statement ${name} is defined twice`);
  const defined: Statement<Row> = Object.freeze({ name, text: text.trim().replace(/^\S+/, (word) => `${word} /* ${name} */`), plan });
  registry.set(name, defined);
  return defined;
}
