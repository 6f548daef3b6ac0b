import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** SHA-256 over RFC 8785 bytes, hex. Functions and undefined members do not count. */
export const digestOf = (value: unknown): string => sha256(canonicalize(JSON.parse(JSON.stringify(value ?? null))) ?? "null");
