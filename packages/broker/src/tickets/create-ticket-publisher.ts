import { Queue } from "bullmq";
import { connectRedis, type BrokerPlace, type BrokerReports } from "../connection/connect-redis.js";
import { mostRuns, ticketName, ticketOptions, type Ticket } from "./ticket.js";

/** Puts tickets on the queues of worker pools. */
export type TicketPublisher = Readonly<{
  /**
   * Publishes tickets, each a list of 1 to 32 run ids of `pool`, in one round
   * trip and all or none. Rejects at once while the broker is away, and after
   * `commandTimeoutMs` at the latest: then they may have been published all the
   * same, and publishing them again does no harm.
   */
  publish(pool: string, tickets: readonly (readonly string[])[]): Promise<void>;
  /** Whether the broker takes tickets. */
  brokerUp(): boolean;
  close(): Promise<void>;
}>;

/** Opens the relay's side of the broker. Nothing is queued on this side: a ticket is published now or not at all. */
export function createTicketPublisher(place: BrokerPlace, reports: BrokerReports = {}): TicketPublisher {
  const { prefix, commandTimeoutMs } = place;
  const link = connectRedis({ ...place, name: "mainstay-publisher" }, reports);
  const queues = new Map<string, Queue<Ticket>>();

  const queueOf = (pool: string): Queue<Ticket> => {
    const known = queues.get(pool);
    if (known !== undefined) return known;
    const queue = new Queue<Ticket>(pool, {
      connection: link.client, prefix, skipVersionCheck: true, streams: { events: { maxLen: 100 } },
    });
    queue.on("error", link.failed);
    queues.set(pool, queue);
    return queue;
  };

  const publish = async (pool: string, tickets: readonly (readonly string[])[]): Promise<void> => {
    if (tickets.length === 0) return;
    const odd = tickets.find(({ length }) => length < 1 || length > mostRuns);
    if (odd !== undefined) throw new RangeError(`a ticket names 1 to ${mostRuns} runs, this one names ${odd.length}`);
    if (!link.up()) throw new Error("the broker is away: nothing was published");
    const queue = queueOf(pool); // a name that BullMQ refuses says nothing of the broker
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`the broker timed out after ${commandTimeoutMs} ms: the tickets may have been published`));
      }, commandTimeoutMs);
    });
    try {
      const jobs = tickets.map((runs) => ({ name: ticketName, data: { runs: [...runs] }, opts: ticketOptions }));
      await Promise.race([queue.addBulk(jobs), late]);
    } catch (error) {
      link.failed(error);
      if (error instanceof Error && error.name === "MaxRetriesPerRequestError") {
        throw new Error("the connection to the broker broke under this publication: the tickets may have been published", { cause: error });
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  return Object.freeze({
    publish,
    brokerUp: link.up,
    close: async () => {
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      link.close();
    },
  });
}
