import type { TicketPublisher } from "@mainstay/broker";
import { deleteOutbox, isTransient, type Queryable } from "@mainstay/database";
import { logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import type { Rest } from "../rest.js";
import { drainUnheard } from "./drain-unheard.js";
import { publishBatch } from "./publish-batch.js";

/** What the outbox is run with. Without a publisher there is no broker. */
export type OutboxParts = Readonly<{
  db: Queryable;
  publisher: Pick<TicketPublisher, "publish" | "brokerUp"> | undefined;
  /** This relay's incarnation. */
  relay: string;
  /** How often rows are looked for when nobody wakes the loop, in milliseconds. */
  relayPollMs: number;
  /** The loop's rests: end one when rows may be due or the broker is back. */
  rest: Rest;
  logger: Logger;
  metrics: Pick<Metrics, "outboxPublished" | "outboxPublishFailures" | "outboxPublishLag" | "messageDeadLettersOpened">;
}>;

/** The running loop. */
export type RunningOutbox = Readonly<{
  /** Resolves once the batch under way has ended; no further one begins. */
  stop(): Promise<void>;
  /** Rejects with what is no outage: a bug, for the process to end by. */
  done: Promise<void>;
}>;

/** Rows of one batch; a full one is followed by the next at once. */
const limit = 512;

/** Well above what a batch may take: a publication's time-out and two statements'. */
const staleMs = 8_000;

/** A row the broker refuses by itself at its fifth try, 0.5 s to 4 s apart, is isolated. */
const mostTries = 5;

/** A look between two polls goes back so many of them. */
const recentPolls = 2;

/** Without a broker the outbox is emptied this many polls apart. */
const unheardPolls = 5;

/** After a look that found rows the next one is so far off at least, whoever hints: what comes closely behind is found by one look. */
const leastRestMs = 10;

/** Rows that were published wait so long for a next look to delete them on the way. Milliseconds. */
const deleteWithinMs = 50;

/** Outages of Postgres are asked about this often. */
const outageRestMs = 500;

/**
 * Moves due outbox rows to the broker until stopped. Woken by hints, it looks
 * by itself every `relayPollMs`, and sooner when a row falls due sooner. While
 * the broker is away rows are left where they are: the workers' sweep finds
 * the runs. Many relays may run; `skip locked` shares the rows between them.
 */
export function runOutbox({ db, publisher, relay, relayPollMs, rest, logger, metrics }: OutboxParts): RunningOutbox {
  const topic = { topic: "dispatch" };
  let databaseAway = false;
  let wholeLookAt = 0;
  /** Published and not yet deleted. Should this process die now, they ring once more. */
  let acknowledged: readonly string[] = [];
  const deleteAcknowledged = async (): Promise<void> => {
    if (acknowledged.length > 0) await deleteOutbox(db, acknowledged);
    acknowledged = [];
  };

  /** One look; answers how long to rest, and how long at least. */
  const look = async (): Promise<readonly [ms: number, leastMs: number]> => {
    if (publisher === undefined) {
      const found = await drainUnheard({ db, relay, limit, staleMs });
      return [found === limit ? 0 : unheardPolls * relayPollMs, 0];
    }
    if (!publisher.brokerUp()) {
      await deleteAcknowledged();
      return [relayPollMs, 0];
    }
    const now = performance.now();
    const whole = now >= wholeLookAt;
    const batch = await publishBatch({
      db, publisher, relay, limit, staleMs, horizonMs: relayPollMs, mostTries, recentMs: whole ? undefined : recentPolls * relayPollMs, acknowledged,
    });
    acknowledged = batch.published;
    // what was left behind, or came late, is looked for at every poll, and while there is a backlog
    if (whole && batch.taken < limit) wholeLookAt = now + 0.9 * relayPollMs;
    if (batch.taken === limit) wholeLookAt = 0;
    if (acknowledged.length > 0) metrics.outboxPublished.inc(topic, acknowledged.length);
    for (const lagMs of batch.lagsMs) metrics.outboxPublishLag.observe(topic, lagMs / 1_000);
    const [err] = batch.failures;
    if (err !== undefined) {
      metrics.outboxPublishFailures.inc(topic, batch.failures.length);
      logger.warn(logEvents.publishFailed, { err, refusals: batch.failures.length });
    }
    for (const { runId, pool, tries, reason } of batch.isolated) {
      metrics.messageDeadLettersOpened.inc({ reason: "unpublishable" });
      logger.error(logEvents.outboxRowIsolated, { runId, pool, tries, reason });
    }
    if (batch.taken === limit && !batch.brokerAway) return [0, 0];
    const restMs = Math.min(acknowledged.length > 0 ? deleteWithinMs : relayPollMs, Math.max(1, batch.nextDueMs ?? relayPollMs));
    return [restMs, batch.taken > 0 ? leastRestMs : 0];
  };

  const loop = async (): Promise<void> => {
    while (!rest.stopped()) {
      try {
        const rested = await look();
        if (databaseAway) logger.info(logEvents.databaseReachable);
        databaseAway = false;
        await rest.take(...rested);
      } catch (error) {
        if (!isTransient(error)) throw error;
        if (!databaseAway) logger.warn(logEvents.databaseUnreachable, { err: error instanceof Error ? error : new Error(String(error)) });
        databaseAway = true;
        await rest.take(outageRestMs);
      }
    }
    await deleteAcknowledged().catch(() => undefined); // they ring once more
  };

  const done = loop();
  return Object.freeze({
    stop: async () => {
      rest.stop();
      await done.catch(() => undefined);
    },
    done,
  });
}
