import { beatIncarnation, isAway, withholdBeat, type RingPeer, type Session } from "@mainstay/database";
import type { Board } from "../board/board.js";
import { monotonicMs, toMs, toNs } from "../board/monotonic.js";
import { createWedge } from "../wedge/create-wedge.js";
import { createWitness, type Suspect } from "../witness/create-witness.js";

export type HeartbeatOptions = {
  incarnation: string;
  heartbeatMs: number;
  leaseMs: number;
  wedgedAfterMs: number;
  board: Board;
  session: () => Session | undefined;
  /** How many live workers after this one the beat shall name. */
  ringSize: () => number;
  onBeat: (ring: readonly RingPeer[]) => void;
  /** Silent peers; each may be lapsed when its instant has come. */
  onSilence: (suspects: readonly Suspect[]) => void;
  /** The database says this incarnation is over. */
  onLost: () => void;
  /** The beat is withheld because main does not attest, or is given again. */
  onWithheld: (withheld: boolean) => void;
  onFailure: (error: unknown) => void;
};

export type Heartbeat = {
  /** The connection is a new one: nothing seen over the old one counts, and the time without it is excused. */
  reconnected: () => void;
  /** Beats now. Resolves when it was answered or has failed. */
  now: () => Promise<void>;
  stop: () => void;
};

/**
 * Proves this incarnation's life every `heartbeatMs`, at most one beat under way. Its validity counts from the
 * monotonic instant before the beat was sent (rule H2). While main does not attest its work path the beat is withheld:
 * the row is asked instead whether it still lives (rule H26).
 */
export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { incarnation, heartbeatMs, leaseMs, board } = options;
  const wedge = createWedge(options);
  const witness = createWitness(options);
  let answeredMs = monotonicMs();
  let nextMs = monotonicMs() + heartbeatMs;
  let withheld = false;
  let flying: Promise<void> | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
  };
  const lost = (): void => {
    if (stopped) return;
    stop();
    board.set("validUntil", 0n);
    options.onLost();
  };
  const withhold = async (session: Session): Promise<void> => {
    if (!(await withholdBeat(session, incarnation))) { lost(); return; }
    answeredMs = monotonicMs();
  };
  const renew = async (session: Session): Promise<void> => {
    const sent = process.hrtime.bigint();
    const beat = await beatIncarnation(session, { id: incarnation, heartbeatMs, ring: options.ringSize() });
    if (beat === undefined) { lost(); return; }
    if (stopped) return;
    board.set("validUntil", sent + toNs(leaseMs));
    answeredMs = monotonicMs();
    options.onBeat(beat.ring);
    options.onSilence(witness.note({ sentMs: toMs(sent), answeredMs, overdue: beat.overdue }));
  };
  const send = async (session: Session): Promise<void> => {
    const isWedged = wedge.wedged(monotonicMs(), toMs(board.get("attested")));
    if (isWedged !== withheld) {
      withheld = isWedged;
      options.onWithheld(isWedged);
    }
    try {
      await (isWedged ? withhold(session) : renew(session));
    } catch (error) {
      if (isAway(error)) void session.close(); // a server that stands by or shuts down is left for the one that answers next
      options.onFailure(error);
    }
  };
  const now = (): Promise<void> => {
    const session = options.session();
    if (stopped || session === undefined) return Promise.resolve();
    flying ??= send(session).finally(() => { flying = undefined; });
    return flying;
  };
  const tick = (): void => {
    const instant = monotonicMs();
    if (instant - nextMs > heartbeatMs) wedge.excuse({ fromMs: nextMs, toMs: instant }); // the whole process stood still: main could not attest either
    nextMs += heartbeatMs;
    if (nextMs <= monotonicMs()) nextMs = monotonicMs() + heartbeatMs;
    void now();
    plan();
  };
  const plan = (): void => {
    if (!stopped) timer = setTimeout(tick, Math.max(0, nextMs - monotonicMs()));
  };
  plan();
  return {
    reconnected: () => {
      witness.forget();
      const instant = monotonicMs();
      wedge.excuse({ fromMs: answeredMs, toMs: instant });
      answeredMs = instant;
    },
    now,
    stop,
  };
}
