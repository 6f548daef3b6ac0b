import type { Redis, RedisOptions } from "ioredis";
import { readPlace } from "./read-place.js";

/** A server's address. */
export type Address = Readonly<{ host: string; port: number }>;

/** The way to the server that serves our keys, shared by all connections of one link. */
export type RedisRoute = Readonly<{
  /** Where a new connection shall go, with what it needs to get in. */
  options: () => RedisOptions;
  /** From now on the connection goes where the route leads; it is let go when it ends. */
  lead: (client: Redis) => void;
  /** A node of a Redis Cluster said who serves our keys: everybody goes there. Answers false when they are there already. */
  moved: (message: string) => boolean;
  /** Every connection is replaced: the server at its other end is silent, or no longer the primary. */
  renew: () => void;
  /** The cluster's nodes, for when the one that is used is gone. */
  learn: (nodes: readonly Address[]) => void;
  /** The server could not be reached: the next known node is tried, the named one among them. */
  turn: () => void;
}>;

/**
 * The route of a broker's URL. Every key of ours bears one hash tag and so stands in one slot: of a Redis Cluster we
 * need the one node that serves it, and follow it by its redirections. Sentinels are asked by the driver itself.
 */
export function createRoute(url: string): RedisRoute {
  const place = readPlace(url);
  const named: Address = { host: place.host ?? "127.0.0.1", port: place.port ?? 6379 };
  const clients = new Set<Redis>();
  let current = named;
  let nodes: readonly Address[] = [];

  const goTo = (address: Address): void => {
    current = address;
    for (const { options } of clients) Object.assign(options, address);
  };
  return Object.freeze({
    options: () => (place.sentinels === undefined ? { ...place, ...current } : place),
    lead: (client: Redis) => {
      clients.add(client);
      client.once("end", () => clients.delete(client));
    },
    moved: (message: string) => {
      const to = addressIn(message, current.host);
      if (to === undefined || (to.host === current.host && to.port === current.port)) return false;
      goTo(to);
      for (const client of clients) client.disconnect(true);
      return true;
    },
    renew: () => {
      for (const client of clients) if (client.status === "ready") client.disconnect(true);
    },
    learn: (known: readonly Address[]) => { nodes = known; },
    turn: () => {
      if (nodes.length === 0) return;
      const all = [named, ...nodes.filter(({ host, port }) => host !== named.host || port !== named.port)];
      const at = all.findIndex(({ host, port }) => host === current.host && port === current.port);
      goTo(all[(at + 1) % all.length] ?? named);
    },
  });
}

/** `MOVED <slot> <host>:<port>`; an unknown host is the one that was asked. */
function addressIn(message: string, asked: string): Address | undefined {
  const [, host = "", port = ""] = /^MOVED \d+ (.*):(\d+)$/.exec(message) ?? [];
  return port === "" ? undefined : { host: host === "" ? asked : host, port: Number(port) };
}
