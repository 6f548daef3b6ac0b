import type { TicketConsumer, TicketConsumerOptions, TicketPublisher } from "@mainstay/broker";
import { currentProcess } from "../world/process.js";
import { theWorld } from "../world/world.js";

/** Most runs that one ticket names. */
export const mostRunsPerTicket = 32;

/** In the place of BullMQ: a queue that loses, repeats and delays tickets as the seed wants it. */
export function createTicketPublisher(): TicketPublisher {
  const { broker } = theWorld();
  return {
    publish: async (pool, tickets) => {
      if (!broker.up) throw new Error("the broker is away: nothing was published");
      if (tickets.some((runs) => runs.some((run) => broker.guilty.has(run)))) throw new Error("refused: one of these tickets is never taken");
      for (const runs of tickets) broker.publish(pool, runs);
      if (broker.answersLost()) throw new Error("the broker timed out: the tickets may have been published");
    },
    brokerUp: () => broker.up,
    close: async () => {},
  };
}

export function createTicketConsumer(options: TicketConsumerOptions): TicketConsumer {
  const { broker } = theWorld();
  const consumer = { process: currentProcess(), options, stopped: false };
  broker.consumers.push(consumer);
  return {
    nudge: () => {},
    putBack: async (runIds) => { if (broker.up && runIds.length > 0) broker.publish(options.pool, runIds); },
    brokerUp: () => broker.up,
    stop: async () => { consumer.stopped = true; },
  };
}
