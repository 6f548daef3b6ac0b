import { rmSync } from "node:fs";
import pg from "pg";
import { makeStandby, startCluster, stopCluster } from "../backend/infra.js";
import { ownFolder } from "../backend/own-folder.js";
import { until } from "../until.js";

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
  /** Another server that follows this one and refuses writes until it is promoted. Ends every session here once, to be copied. */
  standby(): Promise<Standby>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
};

/** A server that follows another one. */
export type Standby = Pick<OwnPostgres, "url" | "port" | "stop"> & {
  /** From now on it takes writes and follows nobody. Answers once it does. */
  promote(): Promise<void>;
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
    async standby() {
      await stopCluster({ home, mode: "fast" });
      const follower = await ownFolder("postgres");
      await makeStandby({ from: home, home: follower, primaryUrl: url });
      await startCluster({ home, port, environment });
      const started = await startCluster({ home: follower });
      await until("the standby to follow", async () => (await ask(url, "select 1 from pg_stat_replication where state = 'streaming'")).length === 1);
      return {
        url: started.url,
        port: started.port,
        promote: async () => {
          await ask(started.url, "select pg_promote(true, 60)");
          await until("the standby to take writes", async () => (await ask(started.url, "select 1 where not pg_is_in_recovery()")).length === 1);
        },
        stop: () => remove(follower, started.home),
      };
    },
    stop: () => remove(home, place),
  };
}

async function remove(home: string, place: string): Promise<void> {
  await stopCluster({ home, mode: "immediate" });
  for (const folder of [home, place]) rmSync(folder, { recursive: true, force: true });
}

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url, application_name: "mainstay-testing" });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
