import { repository } from "./repository.js";

/** One Postgres cluster in a folder of its own, as the bootstrap starts it. */
export type Cluster = { readonly url: string; readonly port: number; readonly pid: number; readonly home: string };

type StartOptions = { home: string; port?: number; environment?: Readonly<Record<string, string>> };
type StartCluster = (options: StartOptions & { portFrom?: number }) => Promise<Cluster | undefined>;
type StopCluster = (options: { home: string; mode?: "fast" | "immediate" }) => Promise<boolean>;

/** Starts the cluster of `home`, with the bootstrap's programs. Throws when this machine has none. */
export async function startCluster(options: StartOptions): Promise<Cluster> {
  const { startCluster: start } = (await load("postgres/start-cluster.mjs")) as { startCluster: StartCluster };
  // At random, so that no other run on this machine takes the port of a server that its test has stopped.
  const portFrom = 20_000 + Math.floor(Math.random() * 10_000);
  const cluster = await start({ portFrom, ...options });
  if (!cluster) throw new Error("no Postgres programs were found: run npm ci, or put initdb and pg_ctl on the PATH");
  return cluster;
}

/** Stops the cluster of `home`: `fast` loses nothing, `immediate` is a crash. */
export async function stopCluster(options: { home: string; mode?: "fast" | "immediate" }): Promise<void> {
  const { stopCluster: stop } = (await load("postgres/stop-cluster.mjs")) as { stopCluster: StopCluster };
  await stop(options);
}

/** Copies the stopped cluster of `from` into `home` as a hot standby that follows `primaryUrl`; `startCluster` starts it. */
export async function makeStandby(options: { from: string; home: string; primaryUrl: string }): Promise<void> {
  const { makeStandby: make } = (await load("postgres/make-standby.mjs")) as { makeStandby: (options: { from: string; home: string; primaryUrl: string }) => void };
  make(options);
}

/** The path of redis-server or valkey-server. Throws, naming the way to get one, when there is none. */
export async function findRedisProgram(): Promise<string> {
  const { findRedisProgram: find } = (await load("redis/start-redis.mjs")) as { findRedisProgram: () => string | undefined };
  const program = find();
  if (!program) throw new Error("this test needs a redis-server of its own: put redis-server or valkey-server on the PATH (Debian: apt-get install redis-server)");
  return program;
}

/** The bootstrap is plain Node so that it runs before any build; this is where its words get types. */
async function load(file: string): Promise<unknown> {
  return import(/* @vite-ignore */ `${repository}/infra/dev/${file}`);
}
