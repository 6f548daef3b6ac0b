import type { Session } from "@mainstay/database";

export type KeptSession = {
  current: () => Session | undefined;
  /** Rises with every session: what was seen under another number was seen by another session. */
  generation: () => number;
  close: () => Promise<void>;
};

export type KeepSessionOptions = {
  open: (onEnd: (reason: string) => void) => Promise<Session>;
  /** Makes the session ready; when it rejects the session is closed and the next one tried. */
  prepare?: (session: Session) => Promise<void>;
  /** Called when a session is ready and is the current one. */
  onUp?: (session: Session) => void;
  /** Called when a ready session has ended, other than by `close`. */
  onDown?: (reason: string) => void;
  /** Called with every failure to open or prepare one. */
  onFailure?: (error: unknown) => void;
  /** The longest pause between two tries. */
  mostPauseMs: number;
};

const FIRST_PAUSE_MS = 20;

/** Keeps one session: opens it, and opens another, at once and then with a growing pause, whenever it ends. */
export function keepSession(options: KeepSessionOptions): KeptSession {
  let session: Session | undefined;
  let generation = 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let opening: Promise<void> | undefined;

  const attempt = async (pauseMs: number): Promise<void> => {
    let next: Session | undefined;
    try {
      const opened = await options.open((reason) => {
        if (session === undefined || session !== opened) return; // not ready yet: `prepare` meets the end itself
        session = undefined;
        if (closed) return;
        options.onDown?.(reason);
        start(0, FIRST_PAUSE_MS);
      });
      next = opened;
      await options.prepare?.(opened);
      if (closed || !opened.whole()) throw new Error("the session ended while it was made ready");
      generation += 1;
      session = opened;
      options.onUp?.(opened);
    } catch (error) {
      await next?.close();
      if (closed) return;
      options.onFailure?.(error);
      start(pauseMs * (0.5 + Math.random() / 2), Math.min(pauseMs * 2, options.mostPauseMs));
    }
  };
  const start = (inMs: number, pauseMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => { opening = attempt(pauseMs); }, inMs);
  };
  start(0, FIRST_PAUSE_MS);
  return {
    current: () => session,
    generation: () => generation,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await session?.close();
      await opening;
    },
  };
}
