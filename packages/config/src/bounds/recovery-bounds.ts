import type { RecoveryClass } from "@mainstay/domain";
import type { FleetConfig } from "../config.js";

/** One class's bound in milliseconds: exactly the sum of its terms. */
export type RecoveryBound = Readonly<{
  class: RecoveryClass;
  bound: number;
  terms: readonly Readonly<{ name: string; ms: number }>[];
}>;

/** The settings that the bounds are made of. */
export type BoundSettings = Pick<FleetConfig,
  | "heartbeatMs" | "leaseMs" | "sweepMs" | "idleSweepMs" | "wedgedAfterMs" | "suspicionGraceMs"
  | "dispatchBoundMs" | "relayPollMs" | "drainMs" | "deathWatch" | "broker">;

/** Release, announcement, ticket and claim take this long at most while the broker rings; a sweep does it otherwise. */
const pickUpMs = 500;

/** A killed process's socket closes, its lifeline's lock frees and a watcher's short wait returns within this. */
const lossNoticedMs = 400;

/**
 * How late a run may be resumed, for each recovery class, derived from the
 * settings in force. They hold while the database can be reached and a capable
 * worker is live (I7). Without the death watch nothing is ever `severed`, and
 * that class is not declared.
 */
export function recoveryBounds(settings: BoundSettings): readonly RecoveryBound[] {
  const { heartbeatMs, leaseMs, sweepMs, idleSweepMs, wedgedAfterMs, suspicionGraceMs, dispatchBoundMs, relayPollMs, drainMs } = settings;
  const pickUp = { name: "pickUp", ms: Math.max(pickUpMs, sweepMs) };
  const lease = { name: "lease", ms: leaseMs };
  const heartbeat = { name: "heartbeat", ms: heartbeatMs };
  const sweep = { name: "sweep", ms: idleSweepMs };
  // Without a broker no ticket is waited for: a run may be swept as soon as it is due.
  const missing = settings.broker === "none" ? [sweep, pickUp] : [{ name: "dispatchBound", ms: dispatchBoundMs }, sweep];
  const relay = settings.broker === "none" ? [] : [{ name: "relayPoll", ms: relayPollMs }];

  const declared: [RecoveryClass, { name: string; ms: number }[]][] = [
    ["accepted", [...relay, ...missing]],
    ["dispatched", missing],
    ["leased", [lease, heartbeat, pickUp]],
    ["wedged", [{ name: "wedgedAfter", ms: wedgedAfterMs }, lease, heartbeat, pickUp]],
    ["draining", [{ name: "drain", ms: drainMs }, pickUp]],
  ];
  if (settings.deathWatch) {
    declared.splice(2, 0, ["severed", [{ name: "lossNoticed", ms: lossNoticedMs }, { name: "suspicionGrace", ms: suspicionGraceMs }, pickUp]]);
  }
  return Object.freeze(declared.map(([name, terms]) =>
    Object.freeze({ class: name, bound: terms.reduce((sum, { ms }) => sum + ms, 0), terms: Object.freeze(terms) })));
}
