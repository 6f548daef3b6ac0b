import { StatementTimeout, type Session, type SessionOptions } from "@mainstay/database";
import { currentProcess } from "../world/process.js";
import { theWorld, type SimSession } from "../world/world.js";

/** In the place of the database room's: a session of the model, whose end frees its locks and whose statements are steps. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const world = theWorld();
  await new Promise((resolve) => setTimeout(resolve, 1 + world.chance.below(world.chance.flip(world.slowConnect) ? 2_000 : 8)));
  if (world.outage) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const session: SimSession = {
    pid: world.nextPid(), process: currentProcess(), whole: true, openedAt: world.time.databaseNow(), locks: new Set(), onHint: undefined, wait: undefined,
    lockTimeoutMs: options.lockTimeoutMs ?? options.statementTimeoutMs,
    end: (reason) => {
      if (!session.whole) return;
      session.whole = false;
      world.sessions.delete(session);
      session.locks.clear();
      options.onEnd(reason);
    },
  };
  world.sessions.add(session);
  let last: Promise<unknown> = Promise.resolve();
  const timeoutMs = options.statementTimeoutMs + (options.clientGraceMs ?? 500);
  return {
    pid: session.pid,
    whole: () => session.whole,
    query: (statement, values) => {
      const sent = last.then(() => {
        if (!session.whole) throw new Error("Client has encountered a connection error and is not queryable");
        return world.send({ statement, values, session, timeoutMs });
      });
      const answer = sent.catch((error: unknown) => {
        if (error instanceof StatementTimeout) session.end("a statement timed out");
        throw error;
      });
      last = answer.catch(() => undefined);
      return answer as Promise<never>;
    },
    listen: async (wanted) => { session.onHint = (channel) => { if (wanted.includes(channel)) options.onHint?.(channel); }; },
    close: async () => {
      session.end("closed by its owner");
      world.dropCallsOf(session);
    },
  };
}
