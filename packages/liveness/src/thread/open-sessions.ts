import { openSession, type Channel, type Session } from "@mainstay/database";
import type { ThreadOrders } from "./messages.js";

/** How the thread opens each of its at most four sessions. */
export type Openers = {
  heartbeat: (onEnd: (reason: string) => void) => Promise<Session>;
  lifeline: (onEnd: (reason: string) => void, onHint: (channel: Channel) => void) => Promise<Session>;
  watch: (onEnd: (reason: string) => void) => Promise<Session>;
};

/** A waiting statement holds a snapshot: it may take 30 s at most (rule H27). */
const LONGEST_WAIT_MS = 20_000;
/** So many heartbeats cost as much as one more wait. */
const HEARTBEATS_A_WAIT = 20;

/**
 * A beat is given up early enough for a second one over a new connection within the same lease. Releases may take as
 * long as any statement.
 */
export function openSessions({ identity, settings, incarnation }: ThreadOrders): Openers {
  const { heartbeatMs, leaseMs, statementTimeoutMs, idleTxTimeoutMs } = settings;
  const beatWithinMs = Math.max(heartbeatMs, Math.round((leaseMs - heartbeatMs) * 0.5));
  const waitMs = Math.min(LONGEST_WAIT_MS, HEARTBEATS_A_WAIT * heartbeatMs);
  const common = (what: string) => ({
    url: settings.databaseDirectUrl, applicationName: `mainstay ${identity.role} ${what} ${incarnation.slice(0, 8)}`,
    idleInTransactionMs: idleTxTimeoutMs, connectTimeoutMs: Math.max(1_000, leaseMs - heartbeatMs),
  });
  return {
    heartbeat: (onEnd) => openSession({ ...common("heartbeat"), statementTimeoutMs: beatWithinMs, clientGraceMs: 50, onEnd }),
    lifeline: (onEnd, onHint) => openSession({ ...common("lifeline"), statementTimeoutMs, onEnd, onHint }),
    watch: (onEnd) => openSession({ ...common("watch"), statementTimeoutMs: waitMs + 5_000, lockTimeoutMs: waitMs, onEnd }),
  };
}
