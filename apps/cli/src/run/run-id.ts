import { parseBoundId, unprojectId } from "@mainstay/contract";
import { InvalidArgumentError } from "commander";

/** Reads a run id in its plain or its tilde form. Throws commander's own error on anything else. */
export function readRunId(text: string): string {
  const plain = unprojectId(text);
  if (plain !== undefined && parseBoundId(plain) !== undefined) return plain;
  throw new InvalidArgumentError("Expected a run id such as acme/0190a1b2-….");
}
