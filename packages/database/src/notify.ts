import { statement } from "./statement.js";
import type { Queryable } from "./database.js";

/** Channels of hints: `dispatch` (outbox rows are due), `work` (runs may be swept), `log` (events), `stop` (a stop was asked). */
export type Channel = "dispatch" | "work" | "log" | "stop";
/** Every channel of hints. */
export const channels = ["dispatch", "work", "log", "stop"] as const satisfies readonly Channel[];

const notify = statement<{ sent: string }>("hints.notify", `select pg_notify('mainstay_' || $1::text, '') as sent`);

/** Two hints of a channel are at least so far apart. Whoever reads logs or due rows looks no more often; milliseconds. */
const leastGapMs: Readonly<Record<Channel, number>> = { dispatch: 10, work: 0, log: 20, stop: 0 };

/** Tells a channel's listeners, at once or, when that is soon enough, `withinMs` from now, with whatever is told until then. */
export type Hint = (channel: Channel, withinMs?: number) => void;

/**
 * A coalesced hint after a commit: at most one NOTIFY per channel is under way, and what arrives meanwhile is one
 * more. The first goes out at once, the next after the channel's gap: each wakes every listening session of the
 * database, whatever it listens for. Never inside a transaction that commits work. Failures are dropped: every reader
 * also polls.
 */
export function createHint(db: Queryable): Hint {
  const flying = new Set<Channel>();
  const again = new Set<Channel>();
  const later = new Map<Channel, NodeJS.Timeout>();
  const send = (channel: Channel): void => {
    clearTimeout(later.get(channel));
    later.delete(channel);
    if (flying.has(channel)) { again.add(channel); return; }
    flying.add(channel);
    const began = performance.now();
    const landed = (): void => {
      flying.delete(channel);
      if (again.delete(channel)) send(channel);
    };
    void db.query(notify, [channel]).catch(() => undefined).finally(() => {
      const restMs = leastGapMs[channel] - (performance.now() - began);
      if (restMs <= 0) landed();
      else setTimeout(landed, restMs).unref();
    });
  };
  return (channel, withinMs = 0) => {
    if (withinMs === 0) send(channel);
    else if (!later.has(channel)) later.set(channel, setTimeout(send, withinMs, channel).unref());
  };
}
