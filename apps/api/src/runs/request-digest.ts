import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/** Canonical JSON (RFC 8785) of a parsed body. Throws on what JSON cannot say; the body check has refused that before. */
export function canonicalOf(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error("expected a JSON value");
  return text;
}

/** SHA-256 of canonical JSON, hex: equal for equal requests however their members are ordered. */
export function digestOf(canonical: string): string {
  return createHash("sha256").update(canonical).digest("hex");
}
