import { WorkflowFailure } from "@mainstay/sdk";

/** A value as it is recorded, and the bytes of its JSON. */
export type Recorded = { value: unknown; bytes: number };

/**
 * What a node or an effect returned, as the JSON that is recorded: text that Postgres cannot hold (U+0000, lone
 * surrogates) is replaced by U+FFFD in values and member names, values that JSON has no word for are left out as
 * `JSON.stringify` does.
 *
 * Throws `platform.data_limit_exceeded` above `maxBytes`, and `platform.contract_mismatch` for what JSON cannot say at
 * all (cycles, bigint) and for nesting deeper than `MOST_LEVELS`.
 */
export function recordable(value: unknown, maxBytes: number): Recorded {
  if (value === undefined) return nothing;
  let text: unknown; // of a function or a symbol there is no text
  try {
    text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "string" ? cleanText(inner) : inner));
  } catch (cause) {
    throw new WorkflowFailure("platform.contract_mismatch", { cause });
  }
  if (typeof text !== "string") return nothing;
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) throw new WorkflowFailure("platform.data_limit_exceeded", { attributes: { limit: "MAINSTAY_OUTPUT_MAX_BYTES", limitBytes: maxBytes, bytes } });
  if (levelsOf(text) > MOST_LEVELS) throw new WorkflowFailure("platform.contract_mismatch", { attributes: { rule: `at most ${MOST_LEVELS} levels of nesting` } });
  return { value: JSON.parse(withCleanNames(text)) as unknown, bytes };
}

const nothing: Recorded = { value: null, bytes: 4 };

/** Text that Postgres can hold. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll("\u0000", "\uFFFD");

/** Readers of JSON, Postgres among them, go down one call a level. */
const MOST_LEVELS = 1_000;

/**
 * Member names may hold such text too. Of names `JSON.stringify` leaves U+0000 and lone surrogates as escapes; behind
 * an escaped backslash the same letters are plain text.
 */
function withCleanNames(text: string): string {
  return text.replace(/(\\\\)|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (_whole, backslash: string | undefined) => backslash ?? "\uFFFD");
}

function levelsOf(text: string): number {
  let level = 0;
  let most = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    if (inText) {
      if (letter === 0x5c) at += 1; // a backslash and what it escapes
      else if (letter === 0x22) inText = false;
    } else if (letter === 0x22) inText = true;
    else if (letter === 0x5b || letter === 0x7b) most = Math.max(most, (level += 1));
    else if (letter === 0x5d || letter === 0x7d) level -= 1;
  }
  return most;
}
