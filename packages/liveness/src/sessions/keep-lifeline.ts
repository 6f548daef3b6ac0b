import { setTimeout as pause } from "node:timers/promises";
import { holdLifeline, type Channel, type Session } from "@mainstay/database";
import { keepSession, type KeptSession } from "./keep-session.js";

export type KeepLifelineOptions = {
  lifeline: string;
  channels: readonly Channel[];
  open: (onEnd: (reason: string) => void) => Promise<Session>;
  onHint: (channel: Channel) => void;
  onDown: (reason: string) => void;
  onFailure: (error: unknown) => void;
  mostPauseMs: number;
};

const TAKE_AGAIN_MS = 250;

/**
 * Keeps the session whose end is the sign of this incarnation's death: it holds the lifeline's lock and hears the
 * hints. After a lost session every hint is given once, since any may have been missed.
 */
export function keepLifeline(options: KeepLifelineOptions): KeptSession & { held: () => boolean } {
  const { lifeline, channels } = options;
  let held: Session | undefined;
  /** The server may not yet have noticed the end of the session before; until it does, the lock is not free. */
  const take = async (session: Session): Promise<void> => {
    while (session.whole()) {
      if (await holdLifeline(session, { of: "lifeline", lifeline })) { held = session; return; }
      await pause(TAKE_AGAIN_MS);
    }
  };
  const kept = keepSession({
    open: options.open,
    prepare: async (session) => {
      const first = await holdLifeline(session, { of: "lifeline", lifeline });
      await session.listen(channels);
      if (first) held = session;
      else void take(session).catch(options.onFailure);
      for (const channel of channels) options.onHint(channel);
    },
    onDown: (reason) => {
      held = undefined;
      options.onDown(reason);
    },
    onFailure: options.onFailure,
    mostPauseMs: options.mostPauseMs,
  });
  return { ...kept, held: () => held !== undefined && held === kept.current() };
}
