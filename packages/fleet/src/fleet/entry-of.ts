import { fileURLToPath } from "node:url";
import type { Role } from "../process/role.js";

/** The built program of a role, where the repository and the image keep it. */
export function entryOf(role: Role): string {
  return fileURLToPath(new URL(`../../../../apps/${role}/dist/main.js`, import.meta.url));
}
