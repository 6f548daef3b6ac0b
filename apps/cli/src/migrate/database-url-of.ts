import type { Console } from "../program/console.js";
import { exitStatus } from "../program/exit-status.js";
import { Trouble } from "../program/trouble.js";

/** The address of the database of `migrate`, `key` and `dev`, which speak to it directly. */
export function databaseUrlOf(world: Console): string {
  const { databaseDirectUrl, databaseUrl } = world.config();
  const url = databaseDirectUrl ?? databaseUrl;
  if (url !== undefined) return url;
  throw new Trouble("expected DATABASE_URL, it is not set", exitStatus.usage, "set DATABASE_URL=postgres://…, or use: npm run -s mainstay -- <command>");
}
