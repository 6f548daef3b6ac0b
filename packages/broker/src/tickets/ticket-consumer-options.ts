import type { BrokerPlace, BrokerReports } from "../connection/connect-redis.js";
import type { BadTicketReason } from "./read-ticket.js";

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

