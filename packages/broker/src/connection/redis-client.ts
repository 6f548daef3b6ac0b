import { Redis, type RedisOptions } from "ioredis";
import type { RedisRoute } from "./redis-route.js";

/** Reconnects after 50 ms, twice that, four times … at most 2 s, jittered so that a fleet does not return in one instant. */
export function backOff(attempt: number): number {
  const full = Math.min(2_000, 50 * 2 ** Math.min(attempt, 10));
  return Math.round(full * (0.5 + Math.random() / 2));
}

/**
 * No offline queue and no retry: a command that cannot be sent or answered now
 * fails now, and its caller decides. Nothing is sent a second time in silence.
 */
const options = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 2_000,
  keepAlive: 5_000,
  retryStrategy: backOff,
  sentinelRetryStrategy: backOff,
} as const satisfies RedisOptions;

/** A blocking command returns after 2 s at the latest; a socket silent for longer than this under one is dead. */
const blockingSilenceMs = 5_000;

/**
 * The client of one process. BullMQ copies it for the connection that blocks;
 * the copy goes the same route, has no command time-out, because blocking is
 * its work, and watches its socket instead.
 */
export class RedisClient extends Redis {
  readonly #route: RedisRoute;

  constructor(route: RedisRoute, { commandTimeoutMs, name }: { commandTimeoutMs: number; name: string }) {
    super({
      ...options, ...route.options(), commandTimeout: commandTimeoutMs, connectionName: name,
      retryStrategy: (attempt) => {
        if (attempt > 1) route.turn();
        return backOff(attempt);
      },
    });
    this.#route = route;
    route.lead(this);
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    const copy = new Redis({ ...options, ...this.#route.options(), socketTimeout: blockingSilenceMs, ...override });
    this.#route.lead(copy);
    return copy;
  }
}
