import { WorkflowFailure } from "@mainstay/sdk";

/**
 * What a node returned, as the JSON that is recorded: text that Postgres cannot hold (U+0000, lone surrogates) is
 * replaced by U+FFFD, values that JSON has no word for are left out as `JSON.stringify` does.
 *
 * Throws `platform.data_limit_exceeded` above `maxBytes`, and for what JSON cannot say at all (cycles, bigint).
 */
export function recordable(value: unknown, maxBytes: number): unknown {
  if (value === undefined) return null;
  let text: unknown; // of a function or a symbol there is no text
  try {
    text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "string" ? inner.toWellFormed().replaceAll("\u0000", "\uFFFD") : inner));
  } catch (cause) {
    throw new WorkflowFailure("platform.contract_mismatch", { cause });
  }
  if (typeof text !== "string") return null;
  if (Buffer.byteLength(text) > maxBytes) throw new WorkflowFailure("platform.data_limit_exceeded", { attributes: { limitBytes: maxBytes, bytes: Buffer.byteLength(text) } });
  return JSON.parse(withCleanNames(text));
}

/** Member names may hold such text too; an escaped U+0000 is `\u0000` in the text, an escaped backslash before it is not. */
function withCleanNames(text: string): string {
  return text.includes("\\u0000") ? text.replace(/(\\\\)|\\u0000/g, (whole, escaped: string | undefined) => escaped ?? "\uFFFD") : text;
}
