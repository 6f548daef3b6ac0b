import { configReference } from "@mainstay/config";

/** `docs/reference/config.md`, from the schema that the processes read their environment by. */
export function generate() {
  return [{ path: "docs/reference/config.md", text: configReference() }];
}
