import type { Redis } from "ioredis";
import { brokerFault, type BrokerFault } from "./broker-fault.js";
import { limitReports } from "./limit-reports.js";
import { readNodes } from "./read-nodes.js";
import { backOff, RedisClient } from "./redis-client.js";
import { createRoute } from "./redis-route.js";

/** What a process is told about its broker. */
export type BrokerReports = Readonly<{
  /** Every failure, counted by its kind. */
  onFailure?: (kind: BrokerFault) => void;
  /** The broker began or ceased to take commands. */
  onState?: (up: boolean) => void;
  /** Something failed; at most five a second, with the number of failures left out since the last one. */
  onError?: (error: Error, suppressed: number) => void;
}>;

/** Where the broker is and how long a command may take. */
export type BrokerPlace = Readonly<{
  /** `redis://`, `rediss://` or `redis+sentinel://`; any node of a Redis Cluster will do. */
  url: string;
  /** Hash-tagged prefix of every key, such as `{mainstay}`. */
  prefix: string;
  /** A command unanswered for this long has failed, and its connection is replaced. */
  commandTimeoutMs: number;
}>;

/** One process's link to Redis. */
export type RedisLink = Readonly<{
  client: Redis;
  /** Whether the broker took a write when it was last asked, a second ago at most, and the connection has been whole since. */
  up(): boolean;
  /** Tells the link that a command failed. It reports, and asks again until the broker takes writes. */
  failed(error: unknown): void;
  /** Closes without waiting for answers. */
  close(): void;
}>;

/** A broker that is up is asked again this often, so that a silent one is noticed while no ticket passes. */
const askEveryMs = 1_000;

/** Connections are replaced at most this often. */
const renewEveryMs = 1_000;

/**
 * Opens the link and keeps it: reconnects with back-off, and takes the broker
 * for up only once it has taken a write (a replica that was the primary, or a
 * full memory, answers reads and refuses tickets). In a Redis Cluster it goes to
 * the node that serves our one slot.
 */
export function connectRedis(
  { url, prefix, commandTimeoutMs, name }: BrokerPlace & { name: string },
  { onState = () => undefined, onError = () => undefined, onFailure = () => undefined }: BrokerReports,
): RedisLink {
  const route = createRoute(url);
  const client = new RedisClient(route, { commandTimeoutMs, name });
  const limited = limitReports(onError, { perSecond: 5 });
  const report = (error: unknown): void => {
    onFailure(brokerFault(error));
    limited(error);
  };
  let up = false;
  let closed = false;
  let failures = 0;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const become = (state: boolean): void => {
    if (up === state || (closed && state)) return;
    up = state;
    onState(state);
  };
  const askIn = (ms: number): void => {
    if (closed) return;
    clearTimeout(timer);
    timer = setTimeout(() => { void ask(); }, ms);
    timer.unref();
  };
  const ask = async (): Promise<void> => {
    if (closed || client.status !== "ready") return;
    try {
      await client.set(`${prefix}:probe`, "1", "PX", 5_000);
      failures = 0;
      if (!up) void readNodes(client).then(route.learn); // nobody waits for it
      become(true);
      askIn(askEveryMs);
    } catch (error) {
      failed(error);
    }
  };
  const failed = (error: unknown): void => {
    if (closed) return;
    report(error);
    become(false);
    const message = error instanceof Error ? error.message : "";
    if (message.startsWith("MOVED") && route.moved(message)) return; // asked again once it is there
    // A half-open connection and one to a server that is no longer the primary are replaced, the blocking one too: it
    // may be left behind there, alive, while this one has long been led to the new primary.
    const demoted = message.startsWith("READONLY") || message.startsWith("UNBLOCKED");
    const now = performance.now();
    if ((demoted || (message.includes("timed out") && failures > 0)) && now - renewedAt >= renewEveryMs) {
      renewedAt = now;
      route.renew();
    }
    askIn(backOff(failures++));
  };

  client.on("ready", () => { void ask(); });
  client.on("close", () => { become(false); });
  client.on("error", report);
  return Object.freeze({
    client,
    up: () => up && client.status === "ready",
    failed,
    close: () => {
      closed = true;
      clearTimeout(timer);
      client.disconnect();
      become(false);
    },
  });
}
