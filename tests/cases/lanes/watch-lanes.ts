import type { TestFleet } from "@mainstay/testing";

/** What was seen of lanes that nothing happened to. */
export type LaneWatch = Readonly<{
  /** The longest that a lane's last success was ago. */
  oldestMs: () => number;
  /** Lanes that came to another holder. */
  moves: () => readonly string[];
  stop: () => Promise<void>;
}>;

/** Looks every quarter of a second, from the first success of all of them on. */
export function watchLanes(fleet: Pick<TestFleet, "sql">, names: readonly string[]): LaneWatch {
  let oldestMs = 0;
  const tokens = new Map<string, string>();
  const moves: string[] = [];
  let looking: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    const lanes = await fleet.sql<{ name: string; token: string; agoMs: number | null }>(
      "select name, token::text, (extract(epoch from clock_timestamp() - last_success_at) * 1000)::float8 as \"agoMs\" from lanes where name = any($1::text[])", [names]);
    if (lanes.length < names.length || lanes.some(({ agoMs }) => agoMs === null)) return;
    for (const { name, token, agoMs } of lanes) {
      oldestMs = Math.max(oldestMs, agoMs ?? 0);
      if ((tokens.get(name) ?? token) !== token) moves.push(`${name} has token ${token} after ${String(tokens.get(name))}`);
      tokens.set(name, token);
    }
  };
  const timer = setInterval(() => { looking = looking.then(look); }, 250);
  return {
    oldestMs: () => Math.round(oldestMs),
    moves: () => moves,
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
