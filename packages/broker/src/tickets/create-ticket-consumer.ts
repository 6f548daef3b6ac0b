import { setTimeout as pause } from "node:timers/promises";
import { Queue } from "bullmq";
import { connectRedis } from "../connection/connect-redis.js";
import { fetchTickets } from "./fetch-tickets.js";
import { mostRuns, ticketName, ticketOptions, type Ticket } from "./ticket.js";
import type { TicketConsumerOptions } from "./ticket-consumer-options.js";
import { TicketWorker } from "./ticket-worker.js";

/** A worker's side of the broker. */
export type TicketConsumer = Readonly<{
  /** Call when a slot came free: the next ticket is asked for at once instead of a moment later. */
  nudge(): void;
  /** Puts runs that found no slot at the head of the queue. Never rejects: what cannot be put back is found by the sweep. */
  putBack(runIds: readonly string[]): Promise<void>;
  /** Whether tickets can ring; while not, the worker sweeps at its short interval. */
  brokerUp(): boolean;
  /**
   * Asks for no more tickets and gives back one that just came. Waits at most
   * 2 s for tickets in hand, and not at all while Redis is away, then closes.
   */
  stop(): Promise<void>;
}>;

/** How long `stop` waits, in milliseconds. */
const stopWithinMs = 2_000;

/**
 * Starts taking tickets of one pool. A ticket is held only until each of its
 * runs was claimed or refused, never while a node runs (H17), so that BullMQ's
 * lock covers milliseconds. Outages of Redis are outlasted.
 */
export function createTicketConsumer(options: TicketConsumerOptions): TicketConsumer {
  const { prefix, pool, onLockLost = () => undefined } = options;
  const link = connectRedis({ ...options, name: "mainstay-consumer" }, options);
  const worker = new TicketWorker({ client: link.client, prefix, pool });
  const queue = new Queue<Ticket>(pool, { connection: link.client, prefix, skipVersionCheck: true, skipMetasUpdate: true });
  worker.on("error", link.failed);
  queue.on("error", link.failed);
  worker.on("stalled", onLockLost);
  void worker.startStalledCheckTimer();
  const fetching = fetchTickets({ ...options, worker, link });

  const putBack = async (runIds: readonly string[]): Promise<void> => {
    if (runIds.length === 0 || !link.up()) return;
    const jobs = [];
    for (let at = 0; at < runIds.length; at += mostRuns) {
      jobs.push({ name: ticketName, data: { runs: runIds.slice(at, at + mostRuns) }, opts: { ...ticketOptions, lifo: true } });
    }
    await queue.addBulk(jobs).catch(link.failed);
  };

  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    fetching.stop();
    // Closing the worker ends its blocking connection alone; tickets in hand are acknowledged over the link.
    const closed = Promise.allSettled([worker.close(true), queue.close()]).then(fetching.ended);
    // While Redis is away there is nothing to wait for.
    await Promise.race([closed, pause(link.up() ? stopWithinMs : 100, undefined, { ref: false })]);
    link.close();
  };

  return Object.freeze({
    nudge: fetching.nudge,
    putBack,
    brokerUp: link.up,
    stop: () => (stopped ??= stop()),
  });
}
