const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Undoes {@link projectId} on one URL segment whose percent escapes are already decoded, so that `~2F` and `%2F`
 * both arrive here and mean the same id.
 *
 * @returns the plain id, or `undefined` when a `~` is not followed by two hex digits or the bytes are not UTF-8.
 */
export function unprojectId(segment: string): string | undefined {
  if (!segment.includes("~")) return segment;
  const bytes: number[] = [];
  for (let at = 0; at < segment.length; ) {
    const character = segment.charAt(at);
    if (character !== "~") {
      const symbol = String.fromCodePoint(segment.codePointAt(at) ?? 0);
      bytes.push(...encoder.encode(symbol));
      at += symbol.length;
      continue;
    }
    const hex = segment.slice(at + 1, at + 3);
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return undefined;
    bytes.push(Number.parseInt(hex, 16));
    at += 3;
  }
  try {
    return decoder.decode(new Uint8Array(bytes));
  } catch {
    return undefined;
  }
}
