import type { RedisLink } from "../connection/connect-redis.js";
import { readTicket } from "./read-ticket.js";
import type { TicketConsumerOptions } from "./ticket-consumer-options.js";
import type { FetchedTicket, TicketWorker } from "./ticket-worker.js";

/** The fetch loop's handles. */
export type Fetching = Readonly<{
  nudge(): void;
  stop(): void;
  /** Resolves once the last fetch has returned and no ticket is in hand. */
  ended(): Promise<void>;
}>;

/** Without a nudge, free slots are looked for this often. */
const recheckMs = 100;

/** After a failed fetch the next one waits this long at first, twice as long after each further one, at most 2 s. */
const firstRestMs = 50;
const longestRestMs = 2_000;

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/**
 * Fetches tickets one after the other while there are free slots, and hands
 * each to `onTicket` without waiting for it: claims of many tickets share a
 * statement. Runs until `stop`.
 */
export function fetchTickets(
  { worker, link, freeSlots, onTicket, onBadTicket, onTicketFailed = () => undefined }:
  TicketConsumerOptions & { worker: TicketWorker; link: RedisLink },
): Fetching {
  const inHand = new Set<Promise<void>>();
  const halt = new AbortController();
  const stopping = (): boolean => halt.signal.aborted;
  let wake: (() => void) | undefined;

  const rest = (ms: number): Promise<void> => new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });

  const take = async (ticket: FetchedTicket): Promise<void> => {
    const { runIds, bad } = readTicket(ticket.raw);
    const taken = [
      ...(runIds.length > 0 ? [(async () => { await onTicket(runIds); })()] : []),
      ...bad.map(async ({ raw, reason }) => { await onBadTicket(raw, reason); }),
    ];
    for (const result of await Promise.allSettled(taken)) {
      if (result.status === "rejected") onTicketFailed(asError(result.reason));
    }
    await ticket.acknowledge();
  };
  const hold = (work: Promise<void>): void => {
    // A ticket that could not be acknowledged rings again; only a claim admits.
    const held = work.catch(link.failed).finally(() => inHand.delete(held));
    inHand.add(held);
  };

  const loop = async (): Promise<void> => {
    let failures = 0;
    while (!stopping()) {
      if (freeSlots() <= 0) {
        await rest(recheckMs);
        continue;
      }
      try {
        const ticket = await worker.fetch();
        failures = 0;
        if (ticket === undefined) continue;
        if (stopping()) hold(ticket.release());
        else hold(take(ticket));
      } catch (error) {
        if (stopping()) return;
        link.failed(error);
        await rest(Math.min(longestRestMs, firstRestMs * 2 ** failures++));
      }
    }
  };
  const looping = loop();

  return Object.freeze({
    nudge: () => wake?.(),
    stop: () => {
      halt.abort();
      wake?.();
    },
    ended: async () => {
      await looping;
      await Promise.all(inHand);
    },
  });
}
