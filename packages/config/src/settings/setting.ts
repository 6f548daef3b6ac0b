import type { z } from "zod";

/** A process of the fleet, or the operator's command line. */
export type Role = "api" | "relay" | "worker" | "supervisor" | "cli";

/** The settings of the environment, as handed in: nothing here reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * One variable of the environment: how it is spelled, what it accepts, and the
 * line that the reference prints for it. `schema` takes the raw text or
 * `undefined` (unset) and yields the value, default included.
 */
export type Setting<T> = Readonly<{
  name: string;
  /** What is accepted, completing "expected …". Never mentions what was seen. */
  expected: string;
  /** The default as the reference prints it; `–` when there is none. */
  shownDefault: string;
  about: string;
  /** Also read from the file that `<name>_FILE` names. */
  secret: boolean;
  schema: z.ZodType<T>;
}>;

/** The value that a catalogue of settings yields, by field. */
export type ValuesOf<C extends Record<string, Setting<unknown>>> = {
  [K in keyof C]: C[K] extends Setting<infer T> ? T : never;
};
