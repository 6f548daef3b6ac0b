const encoder = new TextEncoder();

/**
 * The tilde projection of a bound id: one URL segment that no router splits and no proxy decodes.
 * Each byte outside `A-Z a-z 0-9 . _ -` becomes `~HH`: `acme/r-1` → `acme~2Fr-1`. Every link we emit uses it.
 */
export function projectId(plain: string): string {
  let projected = "";
  for (const byte of encoder.encode(plain)) {
    const character = String.fromCharCode(byte);
    projected += /[A-Za-z0-9._-]/.test(character)
      ? character
      : `~${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return projected;
}
