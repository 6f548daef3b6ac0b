import { rmSync } from "node:fs";
import { startCluster, stopCluster } from "../backend/infra.js";
import { ownFolder } from "../backend/own-folder.js";

/** A Postgres server that one test may stop, crash and start again. */
export type OwnPostgres = {
  /** Of its `postgres` database, with a login that may do everything. It stays the same over restarts. */
  readonly url: string;
  readonly port: number;
  /** Ends every session, loses nothing. */
  halt(): Promise<void>;
  /** Ends at once as in a crash; the next start recovers what was committed. */
  crash(): Promise<void>;
  /** Starts again on the same port after `halt()` or `crash()`. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
};

/** How a server is started. */
export type OwnPostgresOptions = Readonly<{
  /** Added to the server's environment, such as a library to load first. */
  environment?: Readonly<Record<string, string>>;
}>;

/** Makes a cluster of its own (about two seconds) and starts it; `createTestDatabase({ serverUrl })` gives it tables. */
export async function startOwnPostgres({ environment = {} }: OwnPostgresOptions = {}): Promise<OwnPostgres> {
  const home = await ownFolder("postgres");
  const { url, port, home: place } = await startCluster({ home, environment });
  return {
    url,
    port,
    halt: () => stopCluster({ home, mode: "fast" }),
    crash: () => stopCluster({ home, mode: "immediate" }),
    start: async () => {
      await startCluster({ home, port, environment });
    },
    async stop() {
      await stopCluster({ home, mode: "immediate" });
      for (const folder of [home, place]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
