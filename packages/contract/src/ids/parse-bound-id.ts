import { BoundId } from "./grammars.js";

/** The two halves of a bound id. */
export type BoundIdParts = Readonly<{ workspace: string; opaque: string }>;

/** Splits a plain bound id. @returns `undefined` for a bare id or one outside the grammar. */
export function parseBoundId(plain: string): BoundIdParts | undefined {
  if (!BoundId.safeParse(plain).success) return undefined;
  const slash = plain.indexOf("/");
  return { workspace: plain.slice(0, slash), opaque: plain.slice(slash + 1) };
}
