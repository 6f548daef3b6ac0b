import { setTimeout as pause } from "node:timers/promises";
import { Queue } from "bullmq";
import { connectRedis, type BrokerPlace, type BrokerReports } from "../connection/connect-redis.js";
import { fetchTickets } from "./fetch-tickets.js";
import type { BadTicketReason } from "./read-ticket.js";
import { mostRuns, ticketName, ticketOptions, type Ticket } from "./ticket.js";
import { TicketWorker } from "./ticket-worker.js";

/** What a worker gives its consumer. */
export type TicketConsumerOptions = BrokerPlace & BrokerReports & Readonly<{
  pool: string;
  /**
   * Slots that no run holds and no ticket in hand has reserved. Asked before
   * every fetch; while it answers 0 no ticket is asked for.
   */
  freeSlots: () => number;
  /**
   * Takes the runs of a ticket: at most `freeSlots()` are claimed, the rest is
   * given to `putBack`. Must reserve its slots before its first `await`.
   * Resolves once each run was claimed or refused; the ticket is acknowledged
   * then, and also when it rejects, since the sweep finds those runs.
   */
  onTicket: (runIds: string[]) => Promise<void>;
  /** A message, or a part of one, that names no run. It is acknowledged. */
  onBadTicket: (raw: string, reason: BadTicketReason) => void | Promise<void>;
  /** `onTicket` or `onBadTicket` rejected. */
  onTicketFailed?: (error: Error) => void;
  /** A ticket was held longer than the broker's lock and rings again. */
  onLockLost?: () => void;
}>;

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
  const { prefix, pool, onState, onError, onLockLost = () => undefined } = options;
  const link = connectRedis(
    { ...options, name: "mainstay-consumer" },
    { ...(onState && { onState }), ...(onError && { onError }) },
  );
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
