import { setTimeout as pause } from "node:timers/promises";
import { doubtIncarnation, endWait, type RingPeer, type Session } from "@mainstay/database";
import { monotonicMs } from "../board/monotonic.js";
import { createWatch } from "./create-watch.js";
import { judgeDoubt } from "./judge-doubt.js";

export type DeathWatchOptions = {
  incarnation: string;
  suspicionGraceMs: number;
  heartbeatMs: number;
  /** How long a peer that was suspected is left alone. */
  restMs: number;
  mostPauseMs: number;
  openWatch: (onEnd: (reason: string) => void) => Promise<Session>;
  /** The session with the own lifeline; its number tells whether it stayed whole. */
  lifeline: { current: () => Session | undefined; generation: () => number };
  /** Releases what the suspect holds and may lose to suspicion. */
  onSuspected: (peer: RingPeer) => Promise<void>;
  onCleared: (peer: RingPeer) => void;
  onFailure: (error: unknown) => void;
};

export type DeathWatch = {
  /** The live workers that come next, as the last beat named them. */
  note: (ring: readonly RingPeer[]) => void;
  /** How many the next beat must name: the watched ones and those left alone. */
  ringSize: () => number;
  close: () => Promise<void>;
};

/** Each process watches so many of the next live workers. */
const WATCHES = 2;
const MOST_NAMED = 16;

/**
 * The death watch in a ring: waits for the lifelines of the next two live workers. A freed lifeline is a suspicion, no
 * proof; what may follow from it `judgeDoubt` says. A peer that was suspected or cleared is left alone for a while and
 * the one behind it is watched instead.
 */
export function createDeathWatch(options: DeathWatchOptions): DeathWatch {
  /** Peers left alone, and until when. */
  const resting = new Map<string, number>();
  let ring: readonly RingPeer[] = [];

  const suspicion = async (peer: RingPeer): Promise<number> => {
    const generation = options.lifeline.generation();
    await pause(options.suspicionGraceMs);
    const session = options.lifeline.current();
    if (session === undefined) return options.heartbeatMs;
    const doubt = await doubtIncarnation(session, { peer: peer.id, me: options.incarnation });
    const whole = doubt.mine && generation === options.lifeline.generation();
    const verdict = judgeDoubt({ ...doubt, whole });
    if (verdict === "suspected") await options.onSuspected(peer);
    if (verdict === "cleared") options.onCleared(peer);
    return verdict === "suspected" || verdict === "gone" ? options.restMs : options.heartbeatMs;
  };
  const onFreed = async (peer: RingPeer): Promise<void> => {
    resting.set(peer.id, Infinity);
    assign();
    let restMs = options.heartbeatMs;
    try {
      restMs = await suspicion(peer);
    } catch (error) {
      options.onFailure(error);
    }
    resting.set(peer.id, monotonicMs() + restMs);
  };
  const watches = Array.from({ length: WATCHES }, () =>
    createWatch({ open: options.openWatch, onFreed, mostPauseMs: options.mostPauseMs }));

  const rearm = (pid: number | undefined): void => {
    const session = options.lifeline.current();
    if (pid !== undefined && session !== undefined) void endWait(session, pid).catch(options.onFailure);
  };
  const assign = (): void => {
    const wanted = ring.filter(({ id }) => !resting.has(id)).slice(0, WATCHES);
    const free = watches.filter((watch) => !wanted.some(({ id }) => id === watch.target()?.id));
    for (const peer of wanted) {
      if (watches.some((watch) => watch.target()?.id === peer.id)) continue;
      const watch = free.shift();
      const before = watch?.target();
      watch?.turn(peer);
      // the wait for a peer that another one pushed out of the ring would go on until its lock time-out
      if (before !== undefined && !resting.has(before.id)) rearm(watch?.pid());
    }
    for (const watch of free) watch.turn(undefined);
  };
  return {
    note: (next) => {
      const now = monotonicMs();
      for (const [id, until] of resting) if (until <= now) resting.delete(id);
      ring = next;
      assign();
    },
    ringSize: () => Math.min(MOST_NAMED, WATCHES + resting.size),
    close: async () => { await Promise.all(watches.map((watch) => watch.close())); },
  };
}
