import { createClient, type Client } from "@mainstay/sdk";
import type { Console, GlobalOptions } from "./console.js";
import { exitStatus } from "./exit-status.js";
import { Trouble } from "./trouble.js";

/** The client of a command: flag, then environment, then default. */
export function clientOf(world: Console, options: GlobalOptions): Client {
  const config = world.config();
  const key = options.apiKey ?? config.apiKey;
  if (key === undefined) {
    throw new Trouble("expected an API key, none is set", exitStatus.notAuthorised, "set MAINSTAY_KEY, or make a key with: mainstay key create --workspace <name>");
  }
  return createClient({ url: options.url ?? config.apiUrl, key, retryForMs: 3_000 });
}
