import { awaitLifeline, codeOf, type RingPeer, type Session } from "@mainstay/database";
import { keepSession, type KeptSession } from "../sessions/keep-session.js";

export type WatchOptions = {
  open: (onEnd: (reason: string) => void) => Promise<Session>;
  /** The peer's lifeline was seen free, over the session of this number. Resolves when the watch may go on. */
  onFreed: (peer: RingPeer) => Promise<void>;
  mostPauseMs: number;
};

/** One session that waits for the lifeline of one peer at a time. */
export type Watch = {
  target: () => RingPeer | undefined;
  /** Watches `peer` from now on, or nobody. */
  turn: (peer: RingPeer | undefined) => void;
  /** The session under way, whose wait may be ended from outside. */
  pid: () => number | undefined;
  close: () => Promise<void>;
};

/** Lock not available in time, and a wait that was ended from outside. */
const waitIsOver = new Set(["55P03", "57014"]);

/** Waits for a peer's lifeline in short, re-armed waits (rule H27). A session is opened only once there is a peer. */
export function createWatch(options: WatchOptions): Watch {
  let target: RingPeer | undefined;
  let kept: KeptSession | undefined;
  let running: Session | undefined;

  const run = async (session: Session): Promise<void> => {
    running = session;
    while (session.whole() && target !== undefined) {
      const watched = target;
      try {
        await awaitLifeline(session, watched.lifeline);
      } catch (error) {
        if (waitIsOver.has(codeOf(error) ?? "")) continue;
        await session.close(); // the next session goes on
        break;
      }
      await options.onFreed(watched);
    }
    if (running === session) running = undefined;
  };
  const wake = (): void => {
    const session = kept?.current();
    if (session !== undefined && running !== session && target !== undefined) void run(session);
  };
  return {
    target: () => target,
    turn: (peer) => {
      target = peer;
      if (peer === undefined) return;
      kept ??= keepSession({
        open: options.open, mostPauseMs: options.mostPauseMs,
        onUp: wake,
      });
      wake();
    },
    pid: () => running?.pid,
    close: async () => {
      target = undefined;
      await kept?.close();
    },
  };
}
