import { z } from "zod";
import { parseCidr } from "./parse-cidr.js";
import type { Setting } from "./setting.js";

/** The longest time a setting may name: one day, well inside Node's timers. */
const longestMs = 86_400_000;

type Named = { name: string; about: string };

/** The raw text of a variable; the reader has already turned an empty one into `undefined`. */
const raw = z.string().optional();

function wholeNumber(
  { name, about }: Named,
  { fallback, min, max, unit }: { fallback: number; min: number; max: number; unit: string },
): Setting<number> {
  const expected = `a whole number of ${unit} from ${min} to ${max}`;
  return {
    name, about, expected, shownDefault: String(fallback), secret: false,
    schema: raw.transform((text, context) => {
      if (text === undefined) return fallback;
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      context.addIssue(expected);
      return z.NEVER;
    }),
  };
}

/** The kinds of value a setting can have; each makes one entry of the catalogue. */
export const kinds = {
  milliseconds: (named: Named, fallback: number, { min = 1, max = longestMs } = {}): Setting<number> =>
    wholeNumber(named, { fallback, min, max, unit: "milliseconds" }),

  count: (named: Named, fallback: number, { min = 1, max = 1_000_000, unit = "units" } = {}): Setting<number> =>
    wholeNumber(named, { fallback, min, max, unit }),

  /** A number whose default depends on another setting: `undefined` when unset. */
  optionalMilliseconds: (named: Named, shownDefault: string): Setting<number | undefined> => {
    const { expected, schema } = wholeNumber(named, { fallback: 1, min: 1, max: longestMs, unit: "milliseconds" });
    return {
      ...named, expected, shownDefault, secret: false,
      schema: raw.transform((text, context) => {
        if (text === undefined) return undefined;
        const parsed = schema.safeParse(text);
        if (parsed.success) return parsed.data;
        context.addIssue(expected);
        return z.NEVER;
      }),
    };
  },

  port: (named: Named): Setting<number | undefined> => ({
    ...named, expected: "a port from 0 (any free one) to 65535", shownDefault: "8080 for the api, any free port elsewhere", secret: false,
    schema: raw.transform((text, context) => {
      if (text === undefined) return undefined;
      if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
      context.addIssue("a port from 0 (any free one) to 65535");
      return z.NEVER;
    }),
  }),

  choice: <const T extends string>(named: Named, of: readonly [T, ...T[]], fallback: NoInfer<T>): Setting<T> => ({
    ...named, expected: `one of ${of.join(", ")}`, shownDefault: fallback, secret: false,
    schema: raw.transform((text, context) => {
      const found = text === undefined ? fallback : of.find((one) => one === text);
      if (found !== undefined) return found;
      context.addIssue(`one of ${of.join(", ")}`);
      return z.NEVER;
    }),
  }),

  onOff: (named: Named, fallback: boolean): Setting<boolean> => ({
    ...named, expected: "on or off", shownDefault: fallback ? "on" : "off", secret: false,
    schema: raw.transform((text, context) => {
      if (text === undefined) return fallback;
      if (text === "on" || text === "true" || text === "1") return true;
      if (text === "off" || text === "false" || text === "0") return false;
      context.addIssue("on or off");
      return z.NEVER;
    }),
  }),

  text: (named: Named, { shownDefault = "–", pattern = /^[^\0]+$/, expected = "text", secret = false } = {}): Setting<string | undefined> => ({
    ...named, expected, shownDefault, secret,
    schema: raw.transform((text, context) => {
      if (text === undefined || pattern.test(text)) return text;
      context.addIssue(expected);
      return z.NEVER;
    }),
  }),

  /** A URL of one of the given schemes (with colon). Secret: it may carry a password. */
  secretUrl: (named: Named, schemes: readonly string[], shownDefault = "–"): Setting<string | undefined> => {
    const expected = `a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`;
    return {
      ...named, expected, shownDefault, secret: true,
      schema: raw.transform((text, context) => {
        if (text === undefined) return undefined;
        const url = URL.canParse(text) ? new URL(text) : undefined;
        if (url !== undefined && schemes.includes(url.protocol)) return text;
        context.addIssue(expected);
        return z.NEVER;
      }),
    };
  },

  /** A comma list of CIDR ranges; a bare address is the range of itself alone. */
  ranges: (named: Named): Setting<readonly string[]> => {
    const expected = "a comma list of CIDR ranges such as 10.0.0.0/8,::1/128";
    return {
      ...named, expected, shownDefault: "none", secret: false,
      schema: raw.transform((text, context) => {
        const parts = (text ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
        const parsed = parts.map(parseCidr);
        if (parsed.every((range) => range !== undefined)) return parsed;
        context.addIssue(expected);
        return z.NEVER;
      }),
    };
  },
} as const;
