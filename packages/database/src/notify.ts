import { statement } from "./statement.js";
import type { Queryable } from "./database.js";

/** Channels of hints: `dispatch` (outbox rows are due), `work` (runs may be swept), `log` (events), `stop` (a stop was asked). */
export type Channel = "dispatch" | "work" | "log" | "stop";
/** Every channel of hints. */
export const channels = ["dispatch", "work", "log", "stop"] as const satisfies readonly Channel[];

const notify = statement<{ sent: string }>("hints.notify", `select pg_notify('mainstay_' || $1::text, '') as sent`);

/**
 * A coalesced hint after a commit: at most one NOTIFY per channel is under way, and what arrives meanwhile is one
 * more. Never inside a transaction that commits work. Failures are dropped: every reader also polls.
 */
export function createHint(db: Queryable): (channel: Channel) => void {
  const flying = new Set<Channel>();
  const again = new Set<Channel>();
  const send = (channel: Channel): void => {
    if (flying.has(channel)) { again.add(channel); return; }
    flying.add(channel);
    void db.query(notify, [channel]).catch(() => undefined).finally(() => {
      flying.delete(channel);
      if (again.delete(channel)) send(channel);
    });
  };
  return send;
}
