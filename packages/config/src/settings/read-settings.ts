import { readFileSync } from "node:fs";
import type { Environment, Setting, ValuesOf } from "./setting.js";

/** The values read so far by field, and a line for every variable that is wrong. */
export type SettingsRead<C extends Record<string, Setting<unknown>>> =
  | { ok: true; values: ValuesOf<C>; named: ReadonlySet<string> }
  | { ok: false; problems: string[] };

type Raw = { text: string | undefined } | { problem: string };

/** The text of one variable. An empty one is unset; a secret may stand in the file that `<name>_FILE` names. */
function rawText({ name, secret }: Setting<unknown>, env: Environment): Raw {
  const direct = env[name] === "" ? undefined : env[name];
  const file = secret && env[`${name}_FILE`] !== "" ? env[`${name}_FILE`] : undefined;
  if (file === undefined) return { text: direct };
  if (direct !== undefined) return { problem: `${name}: expected either ${name} or ${name}_FILE, both are set; remove one` };
  try {
    const text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
    return text === "" ? { problem: `${name}_FILE: expected a file with the value in it, the file is empty` } : { text };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { problem: `${name}_FILE: expected a readable file, reading it failed with ${code}` };
  }
}

/**
 * Reads a catalogue of settings from `env`. Every wrong variable is named in
 * `problems`, with what it accepts and never with its value. `named` holds the
 * names that were set rather than defaulted.
 */
export function readSettings<const C extends Record<string, Setting<unknown>>>(catalogue: C, env: Environment): SettingsRead<C> {
  const problems: string[] = [];
  const named = new Set<string>();
  const values: Record<string, unknown> = {};
  for (const [field, setting] of Object.entries(catalogue)) {
    const raw = rawText(setting, env);
    if ("problem" in raw) {
      problems.push(raw.problem);
      continue;
    }
    if (raw.text !== undefined) named.add(setting.name);
    const parsed = setting.schema.safeParse(raw.text);
    if (parsed.success) values[field] = parsed.data;
    else problems.push(`${setting.name}: expected ${setting.expected}`);
  }
  // Every field of the catalogue has been filled by its own schema, or there is a problem.
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values: values as ValuesOf<C>, named };
}
